package permission

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// program says which options and words of a program make more happen than its first words tell: they start
// other programs, write files, load code or read files as arguments. A rule like `find*` does not cover them.
type program struct {
	// long options, without a value; those that begin like one of them count, too, since most programs take abbreviations.
	long []string
	// short options, each one letter, also in the middle of a bundle such as -xzI.
	short string
	// exact words, of programs with long options behind one dash.
	exact []string
	// first words that the program runs as its subcommand.
	subcommands []string
	// check looks at the words where options do not tell.
	check func(args []string) string
	// always says that every call is such a one.
	always bool
	// until ends the options at the first word that is none: what follows belongs to a script or another program.
	until bool
}

// programs is by the last element of a program's path.
var programs = map[string]program{
	"find": {exact: []string{"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"}},
	"fd":   {long: []string{"exec", "exec-batch"}, short: "xX"}, "fdfind": {long: []string{"exec", "exec-batch"}, short: "xX"},
	"git":    {check: gitRisk},
	"rg":     {long: []string{"pre", "hostname-bin", "search-zip", "pre-glob", "ignore-file"}, short: "zf"},
	"ugrep":  {long: []string{"filter", "pager", "view", "decompress", "config", "save-config"}, short: "z"},
	"ag":     {long: []string{"pager"}},
	"ack":    {long: []string{"pager", "ackrc", "output"}},
	"grep":   {short: "f", long: []string{"file"}},
	"sort":   {long: []string{"output", "compress-program", "temporary-directory", "files0-from"}, short: "oT"},
	"uniq":   {check: secondFile("writes its output to a file")},
	"sed":    {check: sedRisk},
	"awk":    {always: true},
	"perl":   {check: interpreter("eEnpiIMmxdS0")},
	"ruby":   {check: interpreter("enpiIrxS")},
	"python": {check: interpreter("cmiWX")},
	"node": {
		check: nodeRisk,
	},
	"deno":    {subcommands: []string{"eval", "repl", "install", "x", "upgrade"}},
	"bun":     {subcommands: []string{"x", "exec", "repl", "install", "add", "upgrade"}, short: "ep"},
	"php":     {check: interpreter("rBRFEdzcS")},
	"lua":     {check: interpreter("eli")},
	"Rscript": {check: interpreter("e")},
	"tclsh":   {check: interpreter("")}, "expect": {check: interpreter("cf")}, "osascript": {always: true}, "pwsh": {always: true}, "powershell": {always: true},
	"go":    {check: goRisk},
	"cargo": {subcommands: []string{"run", "install", "r", "publish", "fix"}, long: []string{"config", "fix", "target-dir", "manifest-path"}, short: "CZ", check: leading("+", "chooses another toolchain")},
	"tar":   {long: []string{"to-command", "use-compress-program", "checkpoint-action", "info-script", "new-volume-script", "rsh-command", "rmt-command", "absolute-names", "remove-files"}, short: "IFP"},
	"zip":   {long: []string{"unzip-command", "test", "move"}, short: "TmO", exact: []string{"-TT"}},
	"unzip": {short: ":"},
	"7z":    {always: true},
	"cpio":  {long: []string{"rsh-command"}},
	"curl":  {long: []string{"output", "config", "remote-name", "remote-name-all", "output-dir", "upload-file", "data", "data-binary", "data-raw", "data-urlencode", "form", "json", "dump-header", "cookie-jar", "trace", "trace-ascii", "stderr", "netrc-file", "engine", "proxy", "hsts", "alt-svc", "etag-save", "libcurl", "key", "cert", "variable", "unix-socket", "abstract-unix-socket", "netrc", "cookie", "ftp-port", "interface", "url-query", "ssl-sessions"}, short: "oKOTdFDcxEnbP", check: sending},
	"wget":  {always: true},
	"ssh":   {always: true}, "scp": {always: true}, "sftp": {always: true}, "mosh": {always: true},
	"rsync": {long: []string{"rsh", "rsync-path", "daemon", "remove-source-files", "delete", "files-from", "log-file", "partial-dir", "backup-dir", "temp-dir", "write-batch", "only-write-batch"}, short: "e", check: remotes},
	"less":  {always: true}, "more": {always: true}, "man": {long: []string{"pager", "html", "browser", "preprocessor", "config-file", "troff-device", "gxditview"}, short: "PHCpTX"},
	"bat": {long: []string{"pager", "paging"}}, "batcat": {long: []string{"pager", "paging"}},
	"vim": {always: true}, "emacs": {always: true}, "nano": {always: true}, "ed": {always: true}, "ex": {always: true},
	"make":  {long: []string{"eval", "file", "makefile", "directory", "include-dir"}, short: "fCIE", check: assigning},
	"ninja": {short: "fC"},
	"cmake": {short: "PE", exact: []string{"-P", "-E"}},
	"npm":   {subcommands: []string{"exec", "x", "init", "create", "explore", "config", "set", "publish", "adduser", "login", "edit"}, long: []string{"script-shell", "node-options", "prefix", "userconfig", "globalconfig", "call", "shell", "editor", "viewer", "git", "registry", "global"}, short: "cCg"},
	"pnpm":  {subcommands: []string{"exec", "dlx", "create", "config", "publish"}, long: []string{"script-shell", "node-options", "dir", "shell-emulator"}, short: "cC"},
	"yarn":  {subcommands: []string{"exec", "dlx", "create", "config", "node", "publish"}, long: []string{"cwd", "script-shell", "use-yarnrc"}},
	"pip":   {subcommands: []string{"install", "download", "wheel", "config"}, long: []string{"python", "log", "editor"}},
	"uv":    {subcommands: []string{"run", "tool", "pip", "add"}}, "poetry": {subcommands: []string{"run", "shell", "config"}}, "pipenv": {subcommands: []string{"run", "shell"}},
	"bundle": {subcommands: []string{"exec", "config", "open"}}, "gem": {always: true}, "rake": {short: "erRfI", long: []string{"execute", "execute-print", "execute-continue", "require", "rakefile", "rakelib", "libdir"}},
	"docker": {check: containers}, "podman": {check: containers}, "nerdctl": {check: containers}, "kubectl": {subcommands: []string{"exec", "run", "cp", "debug", "edit", "plugin", "config", "apply", "delete"}, long: []string{"kubeconfig"}},
	"gh":  {subcommands: []string{"alias", "extension", "api", "config", "auth", "codespace", "secret"}},
	"gcc": {check: compiler}, "clang": {check: compiler}, "cc": {check: compiler}, "g++": {check: compiler}, "c++": {check: compiler}, "clang++": {check: compiler},
	"ld": {always: true}, "as": {short: "o"},
	"date":     {short: "sf", long: []string{"set", "file"}},
	"hostname": {check: secondFile("")},
	"tree":     {short: "oR", long: []string{"output"}},
	"file":     {short: "fCm", long: []string{"files-from", "compile", "magic-file"}},
	"shuf":     {short: "o", long: []string{"output"}}, "iconv": {short: "o", long: []string{"output"}},
	"du": {long: []string{"files0-from"}}, "wc": {long: []string{"files0-from"}},
	"diff":  {short: "l", long: []string{"paginate"}},
	"split": {long: []string{"filter"}},
	"dd":    {always: true},
	"tee":   {always: true}, "cp": {always: true}, "mv": {always: true}, "ln": {always: true}, "install": {always: true},
	"xxd": {short: "r", check: secondFile("writes its output to a file")}, "base64": {long: []string{"output"}, short: "o"},
	"jq":    {short: "Lf", long: []string{"from-file", "library-path", "slurpfile", "rawfile"}},
	"yq":    {short: "i", long: []string{"inplace", "in-place", "from-file", "split-exp"}},
	"gofmt": {short: "w"}, "goimports": {short: "w"},
	"openssl": {always: true}, "gpg": {always: true}, "sqlite3": {always: true}, "psql": {always: true}, "mysql": {always: true}, "gdb": {always: true}, "lldb": {always: true},
	"tcpdump": {short: "zw"}, "nmap": {always: true}, "nc": {always: true}, "ncat": {always: true}, "socat": {always: true}, "telnet": {always: true}, "ftp": {always: true},
	"crontab": {always: true}, "at": {always: true}, "batch": {always: true}, "systemctl": {always: true}, "launchctl": {always: true}, "tmux": {always: true}, "screen": {always: true},
	"ip":  {short: "b", exact: []string{"-force", "-batch"}, subcommands: []string{"netns", "vrf"}},
	"top": {always: true}, "zsh": {always: true}, "fish": {always: true}, "ksh": {always: true}, "csh": {always: true}, "tcsh": {always: true}, "su": {always: true},
	"chroot": {always: true}, "unshare": {always: true}, "nsenter": {always: true}, "setpriv": {always: true}, "runuser": {always: true}, "systemd-run": {always: true},
	"strace": {always: true}, "ltrace": {always: true}, "perf": {always: true}, "script": {always: true}, "watch": {always: true}, "parallel": {always: true}, "flock": {always: true}, "entr": {always: true},
	"npx": {always: true}, "pnpx": {always: true}, "bunx": {always: true}, "uvx": {always: true}, "pipx": {always: true}, "xvfb-run": {always: true}, "dbus-run-session": {always: true},
	"fakeroot": {always: true}, "proot": {always: true}, "gcore": {always: true}, "m4": {always: true}, "dc": {check: interpreter("ef")}, "pandoc": {long: []string{"filter", "lua-filter", "output", "pdf-engine", "template", "extract-media", "defaults"}, short: "oFLd"},
	"printf": {short: "v"}, "test": {short: "vR"}, "[": {short: "vR"},
}

// same lists programs that take the options of another.
var same = map[string]string{
	"gawk": "awk", "mawk": "awk", "nawk": "awk", "gsed": "sed", "gtar": "tar", "bsdtar": "tar", "gfind": "find", "gsort": "sort",
	"egrep": "grep", "fgrep": "grep", "ggrep": "grep", "nodejs": "node", "vi": "vim", "view": "vim", "nvim": "vim", "vimdiff": "vim", "rview": "vim", "emacsclient": "emacs",
	"gmake": "make", "pip3": "pip", "wget2": "wget", "mailcap": "less", "lualatex": "awk", "pdflatex": "awk", "xelatex": "awk", "latex": "awk", "tex": "awk",
	"autossh": "ssh", "slogin": "ssh", "rlogin": "ssh", "pypy": "python", "pypy3": "python", "luajit": "lua", "julia": "node", "irb": "perl", "guile": "perl", "racket": "perl", "ipython": "python",
}

var versioned = regexp.MustCompile(`^(python|perl|ruby|lua|php|node|tclsh|pip|gcc|clang|g\+\+|clang\+\+)-?[0-9][0-9.]*$`)

// lookup finds a program's entry by its name.
func lookup(name string) (program, bool) {
	name = path.Base(name)
	name = strings.TrimSuffix(name, ".exe")
	if m := versioned.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	if to, ok := same[name]; ok {
		name = to
	}
	p, ok := programs[name]
	return p, ok
}

// risk returns why a simple command may do more than a rule on its first words means, or "".
func risk(args []word) string {
	name := args[0].text
	p, ok := lookup(name)
	if !ok {
		return ""
	}
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.text
		if a.glob && i > 0 && strings.IndexAny(a.text, "*?[-") == 0 {
			return fmt.Sprintf("a file may be called like an option of %s, and %s has dangerous ones: begin the wildcard with ./", name, name)
		}
	}
	if p.always {
		return fmt.Sprintf("%s can run or write anything", name)
	}
	for i, a := range texts[1:] {
		if p.until && !strings.HasPrefix(a, "-") {
			break
		}
		if slices.Contains(p.exact, a) {
			return fmt.Sprintf("%s with %s does more than its name tells", name, a)
		}
		if long, ok := strings.CutPrefix(a, "--"); ok && long != "" {
			option, _, _ := strings.Cut(long, "=")
			for _, l := range p.long {
				if option == l || len(option) >= 2 && strings.HasPrefix(l, option) {
					return fmt.Sprintf("%s with --%s does more than its name tells", name, l)
				}
			}
		} else if strings.HasPrefix(a, "-") && strings.ContainsAny(a[1:], p.short) && len(p.exact) == 0 {
			return fmt.Sprintf("%s with %s does more than its name tells", name, a)
		} else if path.Base(name) == "tar" && i == 0 && strings.ContainsAny(a, p.short) {
			return fmt.Sprintf("%s with %s does more than its name tells", name, a)
		}
	}
	if len(p.subcommands) > 0 {
		words := texts[1:]
		if len(words) > 1 && !strings.HasPrefix(words[0], "-") {
			words = words[:1] // behind an option any word could be the subcommand
		}
		for _, a := range words {
			if slices.Contains(p.subcommands, a) {
				return fmt.Sprintf("%s %s runs or changes what its words do not tell", name, a)
			}
		}
	}
	if p.check != nil {
		if why := p.check(texts[1:]); why != "" {
			return name + " " + why
		}
	}
	return ""
}

// secondFile is for programs that write to the second file that they are given.
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

func leading(prefix, why string) func([]string) string {
	return func(args []string) string {
		if len(args) > 0 && strings.HasPrefix(args[0], prefix) {
			return why
		}
		return ""
	}
}

func remotes(args []string) string {
	for _, a := range args {
		if strings.Contains(a, ":") {
			return "copies from or to another machine"
		}
	}
	return ""
}

// sending looks for files in the words of curl: headers and formats are read from one behind @.
func sending(args []string) string {
	for _, a := range args {
		if strings.Contains(a, "%output{") { // in a format
			return "writes a file with " + a
		}
		if strings.HasPrefix(strings.ToLower(a), "file:") || strings.HasPrefix(a, "@") || strings.HasPrefix(a, "-") && strings.Contains(a, "@") {
			return "reads a file with " + a
		}
	}
	return ""
}

func assigning(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && strings.Contains(a, "=") {
			return "sets variables, which may name programs"
		}
	}
	return ""
}

// interpreter is for programs that run a script: options before it that load other code, no script at all, or one
// from standard input.
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

// nodeRisk is interpreter for node, which has a debugger that others can reach.
func nodeRisk(args []string) string {
	if len(args) > 0 && (args[0] == "inspect" || args[0] == "debug") {
		return args[0] + " lets a debugger in"
	}
	return interpreter("epircC")(args)
}

// containers is for docker and its like: what looks is harmless, everything else starts or changes something.
func containers(args []string) string {
	if len(args) == 0 || slices.Contains([]string{"ps", "images", "logs", "version", "info", "inspect", "top", "stats", "port", "diff", "history", "search"}, args[0]) {
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
		for _, p := range []string{"-wrapper", "-fplugin", "-B", "-specs", "--specs", "@", "-Xclang", "-load", "-fuse-ld", "-Wl,", "-Xlinker", "-no-canonical", "-fpass-plugin", "-dump"} {
			if strings.HasPrefix(a, p) {
				return "with " + a + " loads other programs or options"
			}
		}
	}
	return ""
}

var (
	// gitGlobal are harmless options before the subcommand, gitOptions dangerous ones behind it, gitRunning subcommands that are dangerous themselves.
	gitGlobal  = []string{"--no-pager", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects", "--version", "--help", "-P", "-h", "-v"}
	gitOptions = []string{
		"output", "output-directory", "ext-diff", "textconv", "open-files-in-pager", "upload-pack", "receive-pack", "exec", "exec-path", "config", "config-env", "template",
		"git-dir", "work-tree", "namespace", "super-prefix", "run", "extcmd", "tool", "gpg-sign", "edit-description", "edit", "filters", "smtp-server", "sendmail-cmd", "to-cmd", "cc-cmd", "separate-git-dir", "reference", "recurse-submodules", "remote", "no-index", "contents", "unsafe-paths", "strategy", "global", "system", "file", "pathspec-from-file",
	}
	gitRunning = []string{
		"config", "bisect", "rebase", "filter-branch", "submodule", "difftool", "mergetool", "daemon", "instaweb", "hook", "send-email", "credential", "clone", "remote-ext",
		"upload-pack", "receive-pack", "shell", "cvsserver", "svn", "p4", "worktree", "init", "maintenance", "gui", "citool", "web--browse", "fast-import", "archive", "bundle", "upload-archive", "for-each-repo", "ls-remote", "fetch-pack", "send-pack", "http-backend", "imap-send", "interpret-trailers", "alias", "mergetool--lib", "sh-setup", "update-index", "replace", "lfs", "flow",
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
			slices.Contains([]string{"diff", "log", "show"}, sub) && strings.HasPrefix(letters, "O"), sub == "format-patch" && strings.Contains(letters, "o"),
			slices.Contains([]string{"fetch", "pull", "clone", "push", "ls-remote"}, sub) && strings.ContainsAny(letters, "uco"),
			slices.Contains([]string{"rebase"}, sub) && strings.ContainsAny(letters, "xi"),
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

// goRisk looks for the go command's ways to run other programs than the project's tests.
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
	for _, a := range args[1:] {
		if a == "-args" || a == "--args" {
			break
		}
		option, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !strings.HasPrefix(a, "-") {
			continue
		}
		switch strings.TrimPrefix(option, "test.") {
		case "exec", "toolexec", "vettool", "overlay", "modfile", "o", "C", "ldflags", "gcflags", "asmflags", "gccgoflags", "compiler", "pkgdir", "outputdir",
			"coverprofile", "cpuprofile", "memprofile", "blockprofile", "mutexprofile", "trace", "buildvcs", "fix", "w", "u", "pgo", "fixtool", "testlogfile", "gocoverdir", "fuzzcachedir":
			return args[0] + " with " + a + " runs or writes what its words do not tell"
		}
	}
	return ""
}

// sedHarmless are sed scripts that only print, delete lines or substitute without w, e and r.
var sedHarmless = regexp.MustCompile(`^(?:(?:[0-9]+|\$)(?:,(?:[0-9]+|\$))?)?!?[pdq=]$|^s([/|#,])[^/|#,\\\n]*([/|#,])[^/|#,\\\n]*([/|#,])[gpI0-9]*$`)

// sedRisk knows a few harmless scripts; sed's language is too rich to look for the others.
func sedRisk(args []string) string {
	seen := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-n", a == "-E", a == "-r", a == "-nE", a == "-nr", a == "-En", a == "--quiet", a == "--silent", a == "--regexp-extended", a == "-u", a == "-z", a == "-s":
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
		m := sedHarmless.FindStringSubmatch(strings.TrimSpace(part))
		if m == nil || m[1] != m[2] || m[2] != m[3] {
			return false
		}
	}
	return true
}

// doubtful are builtins of the shell that change how the rest is read, or run text.
var doubtful = []string{
	"eval", "source", ".", "exec", "alias", "unalias", "bind", "builtin", "caller", "complete", "compgen", "compopt", "declare", "typeset", "local", "export", "readonly",
	"enable", "fc", "getopts", "hash", "history", "let", "logout", "mapfile", "readarray", "popd", "pushd", "read", "set", "shopt", "suspend", "trap", "unset", "coproc", "function", "select", "newgrp", "login", "noglob", "nocorrect", "-",
}

// builtinDoubt returns why a builtin may change what the rest of the command does, or "".
func builtinDoubt(args []word) string {
	name := args[0].text
	switch {
	case name == "":
		return "its program has no name"
	case slices.Contains(doubtful, name):
		return name + " changes what the shell does, or runs text"
	case name == "printf" && slices.ContainsFunc(args[1:], func(a word) bool { return strings.HasPrefix(a.text, "-v") || a.glob }),
		(name == "test" || name == "[") && slices.ContainsFunc(args[1:], func(a word) bool { return a.text == "-v" || a.text == "-R" || a.glob }),
		name == "wait" && slices.ContainsFunc(args[1:], func(a word) bool { return strings.HasPrefix(a.text, "-") }):
		return name + " works on a variable, which can run commands"
	case name == "cd" && len(args) == 1, name == "cd" && args[1].text == "-", name == "cd" && args[1].glob:
		return "it goes to a folder that it does not name"
	}
	return ""
}
