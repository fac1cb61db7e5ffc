// Package servers holds the MCP servers and language servers of a session. Whoever has a session gives it values and a
// few functions ([Setup], [Caller], [Asking]); it knows neither a session nor a run.
//
// MCP servers belong to a session: the first run that may use one starts it. A run waits for its servers for a while
// and then begins without those that are not ready; it keeps the tools that it began with, so that its prefix stays.
// The servers of a child are its parent's and its definition's own ([With]). A project may not take the name of a
// server of the user, whose rules and grants would serve the project's.
//
// A server without a sandbox that outlives a killed process is ended by the next process, which knows it by its file in
// a folder of the state ([EndLeft]).
//
// A grant for a tool of an MCP server is one for its version ([Tool.Decided]): its pattern is a hash of all that the
// server says of the tool, and of the server's configuration. Rules of the configuration name no version and hold for
// all.
//
// A server on stdio sees the folder as it is on the disk, read-only (sandbox.Command.Live), since it lives longer than
// any snapshot of what an agent sees. It does not see what an agent proposes.
//
// Language servers are shared by the runs of a session, texts are not. A server runs in a full sandbox without network,
// in trusted workspaces alone. Whoever asks holds the server meanwhile, and first tells it what the asking run sees:
// documents are opened, changed and closed. A file that the run has taken away is an empty document, since LSP has no
// word for it. After three ends in a session a server is not started again; without a server, the tool symbols says
// that it goes by patterns. The editor's servers are asked only of what the editor shows: where edits are proposed in
// files of that kind, the session's own server is asked.
package servers
