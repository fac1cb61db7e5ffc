package main

// goMethodTypes writes lsp/methods/types_gen.go: params, results and what they are made of.
func goMethodTypes(m *Model, t *Table) ([]byte, error) {
	g := &goPackage{model: m, table: t, name: "methods", own: methodTypes(m, t)}
	g.printf(`%spackage methods

import (
	"encoding/json"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/event"
)

`, generatedHeader)
	for _, a := range m.TypeAliases {
		if t.Types[a.Name].Go == "methods."+a.Name {
			g.comment("", goDoc(a.Name, a.Documentation))
			g.printf("type %s %s\n\n", a.Name, g.goType(a.Type))
		}
	}
	g.enumerations()
	g.structuresOf(func(string) bool { return false })
	return g.source()
}

// goMethods writes lsp/methods/methods_gen.go: the names of methods and commands, the interfaces of
// the server, dispatch, and the client's side.
func goMethods(m *Model, t *Table) ([]byte, error) {
	g := &goPackage{model: m, table: t, name: "methods", own: methodTypes(m, t)}
	g.printf(`%spackage methods

import (
	"context"
	"fmt"

	"github.com/agentls/agentls/agentcore/event"
)

`, generatedHeader)
	g.names()
	g.server()
	g.commands()
	g.client()
	return g.source()
}

func (g *goPackage) names() {
	g.printf("// Version is the version of the protocol that this package speaks.\nconst Version = %q\n\n",
		g.model.MetaData.Version)
	g.printf("// The methods of the protocol.\nconst (\n")
	for _, r := range g.model.Messages() {
		g.printf("\tMethod%s = %q\n", r.Name(), r.Method)
	}
	g.printf(")\n\n// The commands for workspace/executeCommand.\nconst (\n")
	for _, r := range g.model.Requests {
		if r.ToServer() {
			g.printf("\tCommand%s = %q\n", r.Name(), g.table.CommandName(r.Method))
		}
	}
	for _, c := range g.table.Commands {
		g.printf("\tCommand%s = %q\n", c.Name, c.Command)
	}
	g.printf(")\n\n")
}

func (g *goPackage) signature(name, params string, result *Type) {
	if result.isNull() {
		g.printf("\t%s(ctx context.Context, params *%s) error\n", name, params)
		return
	}
	g.printf("\t%s(ctx context.Context, params *%s) (*%s, error)\n", name, params, g.goType(result))
}

func (g *goPackage) server() {
	g.comment("",
		"Server answers the requests of a client that are served. Its methods are called from many goroutines at "+
			"once; params are theirs to keep.")
	g.printf("type Server interface {\n")
	for _, r := range g.model.Requests {
		if r.ToServer() {
			g.comment("\t", r.Name()+" answers `"+r.Method+"`. "+r.Documentation)
			g.signature(r.Name(), g.goType(r.Params), r.Result)
		}
	}
	g.printf("}\n\n")
	g.comment("",
		"Dispatch decodes the params of a request, calls the server and returns its result. It is not handled if the "+
			"method is not of this protocol. Params that do not have the documented form are a *[ParamsError]; absent "+
			"params count as an empty object.")
	g.printf(
		"func Dispatch(ctx context.Context, s Server, method string, params []byte) (result any, handled bool, err " +
			"error) {\n\tswitch method {\n")
	for _, r := range g.model.Requests {
		if r.ToServer() {
			g.printf("\tcase Method%s:\n", r.Name())
			if r.Result.isNull() {
				g.printf("\t\tresult, err = callNoResult(ctx, params, s.%s)\n", r.Name())
			} else {
				g.printf("\t\tresult, err = call(ctx, params, s.%s)\n", r.Name())
			}
		}
	}
	g.printf("\tdefault:\n\t\treturn nil, false, nil\n\t}\n\treturn result, true, err\n}\n\n")
}

func (g *goPackage) commands() {
	g.comment("", "CommandServer executes commands: each request is one, and some are commands only.")
	g.printf("type CommandServer interface {\n\tServer\n")
	for _, c := range g.table.Commands {
		g.comment("\t", c.Name+" executes `"+c.Command+"`. "+c.Documentation)
		g.signature(c.Name, c.Params, &Type{Kind: "reference", Name: c.Result})
	}
	g.printf("}\n\n")
	g.comment("", "Commands returns the commands that are served, for the capability executeCommandProvider.")
	g.printf("func Commands() []string {\n\treturn []string{\n")
	for _, c := range g.table.Commands {
		g.printf("\t\tCommand%s,\n", c.Name)
	}
	for _, r := range g.model.Requests {
		if r.ToServer() {
			g.printf("\t\tCommand%s,\n", r.Name())
		}
	}
	g.printf("\t}\n}\n\n")
	g.comment("",
		"CommandMethod returns the method that a command stands for, and \"\" for one that is a command only, or none "+
			"of this protocol. It also knows the methods that are not served yet.")
	g.printf("func CommandMethod(command string) string {\n\tswitch command {\n")
	for _, r := range g.model.Requests {
		if r.ToServer() {
			g.printf("\tcase Command%s:\n\t\treturn Method%s\n", r.Name(), r.Name())
		}
	}
	g.printf("\t}\n\treturn \"\"\n}\n\n")
	g.comment("",
		"DispatchCommand executes a command as [Dispatch] handles a request. A command takes one argument, an object; "+
			"none counts as an empty one, and more are an error.")
	g.printf(`func DispatchCommand[A ~[]byte](ctx context.Context, s CommandServer, command string, arguments []A) (result any, handled bool, err error) {
	var argument []byte
	if len(arguments) > 0 {
		argument = arguments[0]
	}
	switch {
	case CommandMethod(command) == "" && !commandOnly(command):
		return nil, false, nil
	case len(arguments) > 1:
		return nil, true, &ParamsError{Path: "arguments", Problem: fmt.Sprintf("want one object, got %%d values", len(arguments))}
	}
	switch command {
`)
	for _, c := range g.table.Commands {
		g.printf("\tcase Command%s:\n\t\tresult, err = call(ctx, argument, s.%s)\n", c.Name, c.Name)
	}
	g.printf(
		"\tdefault:\n\t\tresult, _, err = Dispatch(ctx, s, CommandMethod(command), argument)\n\t}\n\treturn result, " +
			"true, inArgument(err)\n}\n\n")
	g.printf("func commandOnly(command string) bool {\n\tswitch command {\n\tcase ")
	for i, c := range g.table.Commands {
		if i > 0 {
			g.printf(", ")
		}
		g.printf("Command%s", c.Name)
	}
	g.printf(":\n\t\treturn true\n\t}\n\treturn false\n}\n\n")
}

func (g *goPackage) client() {
	g.comment("",
		"Client sends what the server sends to a client. It may be used from any goroutine that the connection may "+
			"be used from.")
	g.printf("type Client struct {\n\t// Conn is the connection to the client.\n\tConn Conn\n}\n\n")
	for _, r := range g.model.Messages() {
		if r.ToServer() {
			continue
		}
		params := g.goType(r.Params)
		announced := ""
		if r.ClientCapability != "" {
			announced = " Only for a client that announced `" + r.ClientCapability + "`."
		}
		g.comment("", r.Name()+" sends `"+r.Method+"`. "+r.Documentation+announced)
		if r.Result == nil {
			g.printf(
				"func (c Client) %s(ctx context.Context, params *%s) error {\n\treturn c.Conn.Notify(ctx, Method%s, "+
					"params)\n}\n\n", r.Name(), params, r.Name())
			continue
		}
		result, request := r.Result, "request"
		if inner, ok := r.Result.Nullable(); ok {
			result, request = inner, "requestNullable"
		}
		g.printf(
			"func (c Client) %s(ctx context.Context, params *%s) (*%s, error) {\n\treturn %s[%s](ctx, c.Conn, "+
				"Method%s, params)\n}\n\n",
			r.Name(), params, g.goType(result), request, g.goType(result), r.Name())
	}
}
