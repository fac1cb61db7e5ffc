package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is set by the linker for release builds (-X main.release=v1.2.3).
var release string

// version names the build: the release, else the module's version, else the commit that it was built from.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

// build is the version, with the compiler and the system that it was built for.
func build() string {
	return version() + " (" + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + ")"
}

func versionCommand(o *console) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  exactly(0),
		RunE:  func(*cobra.Command, []string) error { return o.printVersion() },
	}
}

// printVersion prints the name and the build.
func (o *console) printVersion() error { return o.print("agentls " + build() + "\n") }
