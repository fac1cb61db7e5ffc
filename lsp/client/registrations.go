package client

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"
)

// Registration is the registration of a feature, with the options of its method, nil for none. It fails if the options
// cannot be encoded.
func Registration(id, method string, options any) (protocol.Registration, error) {
	r := protocol.Registration{ID: "agentls." + id, Method: method}
	if options == nil {
		return r, nil
	}
	raw, err := protocol.Marshal(options)
	if err != nil {
		return r, fmt.Errorf("encode the registration of %s: %w", method, err)
	}
	r.RegisterOptions = protocol.LSPAny(raw)
	return r, nil
}

// Register registers a feature under an id. The caller must know that the client takes registrations of the feature.
func (c *Client) Register(ctx context.Context, id, method string, options any) error {
	r, err := Registration(id, method, options)
	if err != nil {
		return err
	}
	return c.RegisterAll(ctx, r)
}

// RegisterAll registers features by one request.
func (c *Client) RegisterAll(ctx context.Context, list ...protocol.Registration) error {
	params := protocol.RegistrationParams{Registrations: list}
	if err := c.Call(ctx, protocol.MethodClientRegisterCapability, &params, nil); err != nil {
		return fmt.Errorf("register %s: %w", list[0].Method, err)
	}
	return nil
}

// Unregister takes a registration back.
func (c *Client) Unregister(ctx context.Context, id, method string) error {
	params := protocol.UnregistrationParams{
		Unregisterations: []protocol.Unregistration{{ID: "agentls." + id, Method: method}},
	}
	if err := c.Call(ctx, protocol.MethodClientUnregisterCapability, &params, nil); err != nil {
		return fmt.Errorf("take back %s: %w", method, err)
	}
	return nil
}

// FileOperations announces which operations on files and folders the client reports. The server does not ask for
// requests before an operation (willRenameFiles …): agents have nothing to add, and the editor would wait for the
// answer.
func (c *Client) FileOperations() *protocol.FileOperationOptions {
	told := said(c.workspace().FileOperations)
	if !Yes(told.DidRename) && !Yes(told.DidCreate) && !Yes(told.DidDelete) {
		return nil
	}
	all := protocol.FileOperationRegistrationOptions{Filters: []protocol.FileOperationFilter{{
		Scheme: new("file"), Pattern: protocol.FileOperationPattern{Glob: "**"},
	}}}
	options := &protocol.FileOperationOptions{}
	if Yes(told.DidRename) {
		options.DidRename = all
	}
	if Yes(told.DidCreate) {
		options.DidCreate = all
	}
	if Yes(told.DidDelete) {
		options.DidDelete = all
	}
	return options
}

// FollowSettings asks the client to report changes of the user's settings. VS Code and clients like it report them only
// to servers with this registration.
func (c *Client) FollowSettings(ctx context.Context) error {
	if !Yes(said(c.workspace().DidChangeConfiguration).DynamicRegistration) {
		return nil
	}
	// The registration names no section: a client would send the section with all its defaults, as if the user had set
	// them. The server asks for the settings instead.
	return c.Register(ctx, "settings", protocol.MethodWorkspaceDidChangeConfiguration, nil)
}

// WatchFiles asks for the events of files that change on disk.
func (c *Client) WatchFiles(ctx context.Context) error {
	if !c.WatchesFiles() {
		return nil
	}
	return c.Register(ctx, "files", protocol.MethodWorkspaceDidChangeWatchedFiles,
		&protocol.DidChangeWatchedFilesRegistrationOptions{
			Watchers: []protocol.FileSystemWatcher{{GlobPattern: protocol.Pattern("**/*")}},
		})
}
