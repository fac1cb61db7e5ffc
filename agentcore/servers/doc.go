// Package servers holds the MCP servers and language servers of a session. The owner of a session gives it values and a
// few functions ([Setup], [Caller], [Asking]); the package itself knows neither sessions nor runs.
//
// MCP servers belong to a session: the first run that may use a server starts it. A run waits for its servers for a
// while, and then begins without those that are not ready. It keeps the tools with which it began, so that the
// beginning of its requests stays the same. A child has its parent's servers and those of its definition ([With]). A
// project's server may not have the name of a server of the user, since the user's rules and grants would then hold for
// it.
//
// A server without a sandbox may survive when its process is killed. The next process ends it, which finds it by a file
// in a folder of the state ([EndLeft]).
//
// A grant for a tool of an MCP server holds for one version of it ([Tool.Decided]): its pattern is a hash of everything
// that the server says about the tool, and of the server's configuration. Rules of the configuration name no version
// and hold for all.
//
// A server on stdio sees the folder as it is on the disk, read-only (sandbox.Command.Live), since it lives longer than
// any snapshot of what an agent sees. It does not see proposed changes.
//
// The runs of a session share its language servers, but not their texts. A server runs in a full sandbox without
// network, and only in trusted workspaces. A run that asks holds the server, and first tells it what the run sees:
// documents are opened, changed and closed. A file that the run has removed becomes an empty document, since LSP has no
// word for it. A server that has ended three times in a session is not started again; without a server, the tool
// symbols says that it searches by patterns. The editor's servers are asked only if the run sees what the editor shows:
// if edits are proposed in files of that kind, the session's own server is asked.
package servers
