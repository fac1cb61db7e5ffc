package permission

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// secondFile is for programs that write to the second file on their command line.
func secondFile(why string) func([]string) string {
	return func(args []string) string {
		files := 0
		for _, a := range args {
			if !strings.HasPrefix(a, "-") || a == "-" {
				files++
			}
		}
		if files > 1 || why == "" && files > 0 {
			return cmp.Or(why, "changes a setting")
		}
		return ""
	}
}

// listed is for programs that read options from a file named behind @.
func listed(args []string) string {
	for _, a := range args {
		if strings.HasPrefix(a, "@") {
			return "reads more options from " + a[1:]
		}
	}
	return ""
}

// cargoOwn are cargo's own subcommands; any other is a program of its own.
var cargoOwn = []string{
	"build", "b", "check", "c", "clean", "clippy", "doc", "d", "test", "t", "bench", "fetch", "fmt", "metadata", "tree",
	"update", "search", "version", "help", "vendor", "locate-project", "pkgid", "info", "audit", "deny",
}

func cargoRisk(args []string) string {
	for _, a := range args {
		switch {
		case strings.HasPrefix(a, "+"):
			return "chooses another toolchain"
		case strings.HasPrefix(a, "-"):
			continue
		case !slices.Contains(cargoOwn, a):
			return a + " runs or changes what its words do not tell"
		}
		break
	}
	return ""
}

// rpmRisk allows the queries of rpm. Macros in them can run programs.
func rpmRisk(args []string) string {
	for _, a := range args {
		if strings.HasPrefix(a, "--eval") || strings.HasPrefix(a, "--def") || strings.HasPrefix(a, "--pipe") ||
			strings.HasPrefix(a, "--load") || strings.HasPrefix(a, "--macros") ||
			strings.HasPrefix(a, "--rcfile") || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") &&
			strings.ContainsAny(a, "ED") || strings.Contains(a, "%(") || strings.Contains(a, "%{lua") {
			return "with " + a + " runs what it is told"
		}
	}
	if len(args) > 0 && (strings.HasPrefix(args[0], "-q") || args[0] == "--query" || args[0] == "--version") {
		return ""
	}
	return "can change the machine"
}

func remotes(args []string) string {
	for _, a := range args {
		if strings.Contains(a, ":") {
			return "copies from or to another machine"
		}
	}
	return ""
}

// sending looks for files in the words of curl, which reads headers and formats from a file named behind @.
func sending(args []string) string {
	for _, a := range args {
		if strings.Contains(a, "%output{") { // in a format
			return "writes a file with " + a
		}
		if scheme, _, ok := strings.Cut(a, "://"); ok && !strings.HasPrefix(a, "-") &&
			!strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") &&
			!strings.ContainsAny(scheme, " :\"'{") {
			return "speaks " + scheme + ", which may send anything"
		}
		if strings.HasPrefix(strings.ToLower(a), "file:") || strings.HasPrefix(a, "@") || strings.HasPrefix(a, "-") &&
			strings.Contains(a, "@") {
			return "reads a file with " + a
		}
	}
	return ""
}

func assigning(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "--") && strings.Contains(a, "=") && !strings.HasPrefix(a, "-j") &&
			!strings.HasPrefix(a, "-l") {
			return "sets " + a + ", which may name programs or files"
		}
	}
	return ""
}

// interpreter is for programs that run a script. The risks are options before the script that load other code, no
// script at all, or a script from standard input.
func interpreter(short string) func([]string) string {
	return func(args []string) string {
		for _, a := range args {
			switch {
			case a == "-":
				return "runs what it is sent"
			case a == "--version", a == "-V", a == "--help", a == "-h":
				return ""
			case strings.HasPrefix(a, "--"):
				return "gets the option " + a + ", which may load other code"
			case strings.HasPrefix(a, "-"):
				if strings.ContainsAny(a[1:], short) {
					return "with " + a + " runs code of the command line, or other code"
				}
			default:
				return ""
			}
		}
		return "runs what it is sent"
	}
}

// nodeRisk is interpreter for node, whose debugger others can reach.
func nodeRisk(args []string) string {
	if len(args) > 0 && (args[0] == "inspect" || args[0] == "debug") {
		return args[0] + " lets a debugger in"
	}
	return interpreter("epircC")(args)
}

// containers is for docker and similar programs: commands that only look are harmless, all others start or change
// something.
func containers(args []string) string {
	if len(args) == 0 ||
		slices.Contains([]string{
			"ps", "images", "logs", "version", "info", "inspect", "top", "stats", "port", "diff",
			"history", "search",
		}, args[0]) {
		return ""
	}
	if len(args) > 1 && slices.Contains([]string{"compose", "container", "image", "volume", "network"}, args[0]) &&
		slices.Contains([]string{"ps", "ls", "logs", "inspect", "images", "top"}, args[1]) {
		return ""
	}
	return "can change the machine"
}

func compiler(args []string) string {
	for _, a := range args {
		for _, p := range []string{
			"-wrapper", "-fplugin", "-B", "-specs", "--specs", "@", "-Xclang", "-load",
			"-fuse-ld", "-Wl,", "-Xlinker", "-no-canonical", "-fpass-plugin", "-dump",
		} {
			if strings.HasPrefix(a, p) {
				return "with " + a + " loads other programs or options"
			}
		}
	}
	return ""
}

var (
	// gitGlobal are harmless options in front of the subcommand. gitOptions are dangerous options behind it. gitRunning
	// are dangerous subcommands.
	gitGlobal = []string{
		"--no-pager", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects",
		"--version", "--help", "-P", "-h", "-v",
	}
	gitOptions = []string{
		"output", "output-directory", "ext-diff", "textconv", "open-files-in-pager", "upload-pack", "receive-pack",
		"exec", "exec-path", "config", "config-env", "template",
		"git-dir", "work-tree", "namespace", "super-prefix", "run", "extcmd", "tool", "gpg-sign", "edit-description",
		"edit", "filters", "smtp-server", "sendmail-cmd", "to-cmd", "cc-cmd", "separate-git-dir", "reference",
		"recurse-submodules", "remote", "no-index", "contents", "unsafe-paths", "strategy", "global", "system", "file",
		"pathspec-from-file", "interactive", "edit-todo",
	}
	gitRunning = []string{
		"config", "bisect", "filter-branch", "submodule", "difftool", "mergetool", "daemon", "instaweb", "hook",
		"send-email", "credential", "clone", "remote-ext",
		"upload-pack", "receive-pack", "shell", "cvsserver", "svn", "p4", "worktree", "init", "maintenance", "gui",
		"citool", "web--browse", "fast-import", "archive", "bundle", "upload-archive", "for-each-repo", "ls-remote",
		"fetch-pack", "send-pack", "http-backend", "imap-send", "interpret-trailers", "alias", "mergetool--lib",
		"sh-setup", "update-index", "replace", "lfs", "flow",
	}
)

// gitRisk looks for git's many ways to run other programs (git(1), git-config(1): options that take commands).
func gitRisk(args []string) string {
	i := 0
	for i < len(args) && strings.HasPrefix(args[i], "-") {
		if !slices.Contains(gitGlobal, args[i]) {
			return "with " + args[i] + " takes other settings or another folder"
		}
		i++
	}
	if i == len(args) {
		return ""
	}
	sub := args[i]
	for _, a := range args[i+1:] {
		if a == "--" {
			break
		}
		if long, ok := strings.CutPrefix(a, "--"); ok {
			option, _, _ := strings.Cut(long, "=")
			for _, l := range gitOptions {
				if option == l || len(option) >= 3 && strings.HasPrefix(l, option) {
					return sub + " with " + a + " runs or writes what its words do not tell"
				}
			}
			continue
		}
		letters, short := strings.CutPrefix(a, "-")
		switch {
		case !short || letters == "":
			if strings.HasPrefix(a, "ext::") || strings.HasPrefix(a, "file:") || strings.Contains(a, "::") {
				return sub + " reaches another repository by a helper program"
			}
		case sub == "grep" && strings.ContainsAny(letters, "Of"),
			slices.Contains([]string{"diff", "log", "show"}, sub) && strings.HasPrefix(letters, "O"),
			sub == "format-patch" && strings.Contains(letters, "o"),
			slices.Contains([]string{"fetch", "pull", "clone", "ls-remote"}, sub) &&
				strings.ContainsAny(letters, "uco"), sub == "push" && strings.Contains(letters, "o"),
			sub == "rebase" && strings.ContainsAny(letters, "xis"),
			slices.Contains([]string{"commit", "tag", "merge"}, sub) && strings.ContainsAny(letters, "SF"),
			sub == "branch" && letters == "e":
			return sub + " with " + a + " runs or reads what its words do not tell"
		}
	}
	if slices.Contains(gitRunning, sub) {
		return sub + " runs or changes what its words do not tell"
	}
	return ""
}

// goRisk looks for the ways in which the go command runs programs other than the project's tests.
func goRisk(args []string) string {
	if len(args) == 0 {
		return ""
	}
	if strings.HasPrefix(args[0], "-") {
		return "with " + args[0] + " works in another folder"
	}
	switch args[0] {
	case "run", "generate", "tool", "env", "install", "get", "telemetry":
		if args[0] == "env" && !slices.ContainsFunc(args[1:], func(a string) bool {
			return strings.HasPrefix(strings.TrimLeft(a, "-"), "w") || strings.HasPrefix(strings.TrimLeft(a, "-"), "u")
		}) {
			return ""
		}
		return args[0] + " runs or installs what its words do not tell"
	}
	passed := false // to the test, which knows its flags by their long names alone
	for _, a := range args[1:] {
		if a == "-args" || a == "--args" {
			passed = true
			continue
		}
		option, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !strings.HasPrefix(a, "-") || passed && !strings.HasPrefix(option, "test.") {
			continue
		}
		option = strings.TrimPrefix(option, "test.")
		if strings.HasSuffix(option, "profile") {
			return args[0] + " with " + a + " writes a file"
		}
		switch option {
		case "exec", "toolexec", "vettool", "overlay", "modfile", "o", "C", "ldflags", "gcflags", "asmflags",
			"gccgoflags", "compiler", "pkgdir", "outputdir",
			"trace", "buildvcs", "fix", "w", "u", "pgo", "fixtool", "testlogfile", "gocoverdir", "fuzzcachedir":
			return args[0] + " with " + a + " runs or writes what its words do not tell"
		}
	}
	return ""
}

// sedHarmless are sed scripts that only print, delete lines or substitute without w, e and r.
var sedHarmless = lazyregexp.New(
	`^(?:(?:[0-9]+|\$)(?:,(?:[0-9]+|\$))?)?!?[pdq=]$|^s([/|#,])[^/|#,\\\n]*([/|#,])[^/|#,\\\n]*([/|#,])[gpI0-9]*$`)

// sedRisk allows a few harmless scripts; sed's language is too rich to look for the harmful ones.
func sedRisk(args []string) string {
	seen := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-n", a == "-E", a == "-r", a == "-nE", a == "-nr", a == "-En", a == "--quiet", a == "--silent",
			a == "--regexp-extended", a == "-u", a == "-z", a == "-s":
		case a == "-e" && i+1 < len(args):
			i++
			seen = true
			if !harmlessSed(args[i]) {
				return "runs the script " + args[i]
			}
		case strings.HasPrefix(a, "-"):
			return "with " + a + " writes files or runs a script"
		case !seen:
			seen = true
			if !harmlessSed(a) {
				return "runs a script that may write files or run programs"
			}
		}
	}
	return ""
}

func harmlessSed(script string) bool {
	for part := range strings.SplitSeq(script, ";") {
		m := sedHarmless().FindStringSubmatch(strings.TrimSpace(part))
		if m == nil || m[1] != m[2] || m[2] != m[3] {
			return false
		}
	}
	return true
}

// loading looks for filters of ffmpeg that load libraries, and for files that name other files.
func loading(args []string) string {
	for _, a := range args {
		for _, word := range []string{"ladspa", "frei0r", "lv2", "plugin", "movie=", "concat:", "subfile"} {
			if strings.Contains(a, word) {
				return "with " + a + " loads other files"
			}
		}
	}
	return ""
}

// awkHarmless are awk programs that print fields, of all lines or of those with a number or a text.
var awkHarmless = lazyregexp.New(`^\s*(?:NR\s*[=<>!]=?\s*[0-9]+|/[\w .-]*/)?\s*` +
	`(?:\{\s*print(?:\s*,?\s*(?:\$(?:[0-9]+|NF)|NR|NF|"[\w .,:;=-]*"))*\s*;?\s*\})?\s*$`)

// awkRisk allows a few harmless programs, as [sedRisk] does.
func awkRisk(args []string) string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-F") {
		if args[0] == "-F" {
			args = args[1:]
		}
		args = args[min(1, len(args)):]
	}
	if len(args) == 0 || strings.TrimSpace(args[0]) == "" || !awkHarmless().MatchString(args[0]) {
		return "runs a program that may write files or run others"
	}
	for _, a := range args[1:] {
		if strings.HasPrefix(a, "-") && a != "-" {
			return "with " + a + " runs a program"
		}
	}
	return ""
}

// systemRisk allows the queries of systemctl.
func systemRisk(args []string) string {
	other := func(a string) bool { return strings.HasPrefix(a, "-") && a != "--no-pager" && a != "--all" }
	asking := []string{"status", "is-active", "is-enabled", "is-failed", "list-units", "list-unit-files", "list-timers"}
	if len(args) > 0 && slices.Contains(asking, args[0]) && !slices.ContainsFunc(args, other) {
		return ""
	}
	return "can change the machine"
}
