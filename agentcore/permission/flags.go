package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// program says which options and words of a program do more than its first words tell: they start other programs, write
// files, load code or read files as arguments. A rule like `find*` does not cover them.
type program struct {
	// long options, without a value. Abbreviations count, too, since most programs take them.
	long []string
	// short options, each of one letter, also in the middle of a bundle such as -xzI.
	short string
	// exact words, for programs whose long options have one dash.
	exact []string
	// dash says that letters behind one dash are one option.
	dash bool
	// first words for which the program runs a program as its subcommand.
	subcommands []string
	// check looks at the words of a program whose options do not tell enough.
	check func(args []string) string
	// reads says that the options above only name a further file to be read.
	reads bool
	// always says that every call does more than its first words tell.
	always bool
	// until ends the options at the first word that is no option: what follows belongs to a script or another program.
	until bool
}

// programs maps the last element of a program's path to its entry.
var programs = map[string]program{
	"find": {dash: true, exact: []string{
		"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0",
		"-fprintf", "-fls", "-files0-from",
	}},
	"fd":     {long: []string{"exec", "exec-batch"}, short: "xX"},
	"fdfind": {long: []string{"exec", "exec-batch"}, short: "xX"},
	"git":    {check: gitRisk},
	"rg":     {long: []string{"pre", "hostname-bin", "search-zip", "pre-glob", "ignore-file"}, short: "zf"},
	"ugrep":  {long: []string{"filter", "pager", "view", "decompress", "config", "save-config"}, short: "z"},
	"ag":     {long: []string{"pager"}},
	"ack":    {long: []string{"pager", "ackrc", "output"}},
	"grep":   {reads: true, short: "f", long: []string{"file"}},
	"sort":   {long: []string{"output", "compress-program", "temporary-directory", "files0-from"}, short: "oT"},
	"uniq":   {check: secondFile("writes its output to a file")},
	"sed":    {check: sedRisk},
	"awk":    {check: awkRisk},
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
	"tclsh":   {check: interpreter("")}, "expect": {check: interpreter("cf")}, "osascript": {always: true},
	"pwsh": {always: true}, "powershell": {always: true},
	"go":    {dash: true, check: goRisk},
	"cargo": {long: []string{"config", "fix", "target-dir", "manifest-path", "logfile"}, short: "CZ", check: cargoRisk},
	"tar": {long: []string{
		"to-command", "use-compress-program", "checkpoint-action", "info-script",
		"new-volume-script", "rsh-command", "rmt-command", "absolute-names", "remove-files",
	}, short: "IFP"},
	"zip":   {long: []string{"unzip-command", "test", "move"}, short: "TmO", exact: []string{"-TT"}},
	"unzip": {short: ":"},
	"7z":    {always: true},
	"cpio":  {long: []string{"rsh-command"}},
	"curl": {long: []string{
		"output", "config", "remote-name", "remote-name-all", "output-dir", "upload-file", "data",
		"data-binary", "data-raw", "data-urlencode", "form", "json", "dump-header", "cookie-jar", "trace",
		"trace-ascii", "stderr", "netrc-file", "engine", "proxy", "hsts", "alt-svc", "etag-save", "libcurl", "key",
		"cert", "variable", "unix-socket", "abstract-unix-socket", "netrc", "cookie", "ftp-port", "interface",
		"url-query", "ssl-sessions",
	}, short: "oKOTdFDcxEnbP", check: sending},
	"wget": {always: true},
	"scp":  {always: true}, "sftp": {always: true}, "mosh": {always: true},
	"rsync": {long: []string{
		"rsh", "rsync-path", "daemon", "remove-source-files", "delete", "files-from", "log-file",
		"partial-dir", "backup-dir", "temp-dir", "write-batch", "only-write-batch",
	}, short: "e", check: remotes},
	"less": {always: true}, "more": {always: true},
	"man": {
		long:  []string{"pager", "html", "browser", "preprocessor", "config-file", "troff-device", "gxditview"},
		short: "PHCpTX",
	},
	"bat": {long: []string{"pager", "paging"}}, "batcat": {long: []string{"pager", "paging"}},
	"vim": {always: true}, "emacs": {always: true}, "nano": {always: true}, "ed": {always: true}, "ex": {always: true},
	"make":  {long: []string{"eval", "file", "makefile", "directory", "include-dir"}, short: "fCIE", check: assigning},
	"ninja": {short: "fC"},
	"cmake": {short: "PE", exact: []string{"-P", "-E"}},
	"npm": {subcommands: []string{
		"exec", "x", "init", "create", "explore", "config", "set", "publish", "adduser",
		"login", "edit",
	}, long: []string{
		"script-shell", "node-options", "prefix", "userconfig", "globalconfig", "call",
		"shell", "editor", "viewer", "git", "registry", "global",
	}, short: "cCg"},
	"pnpm": {
		subcommands: []string{"exec", "dlx", "create", "config", "publish"},
		long:        []string{"script-shell", "node-options", "dir", "shell-emulator"}, short: "cC",
	},
	"yarn": {
		subcommands: []string{"exec", "dlx", "create", "config", "node", "publish"},
		long:        []string{"cwd", "script-shell", "use-yarnrc"},
	},
	"pip": {
		subcommands: []string{"install", "download", "wheel", "config"},
		long:        []string{"python", "log", "editor"},
	},
	"uv":     {subcommands: []string{"run", "tool", "pip", "add"}},
	"poetry": {subcommands: []string{"run", "shell", "config"}}, "pipenv": {subcommands: []string{"run", "shell"}},
	"bundle": {subcommands: []string{"exec", "config", "open", "console", "help"}}, "gem": {always: true},
	"rake": {short: "epErRfI", long: []string{
		"execute", "execute-print", "execute-continue", "require", "rakefile",
		"rakelib", "libdir",
	}},
	"docker": {check: containers}, "podman": {check: containers}, "nerdctl": {check: containers},
	"kubectl": {
		subcommands: []string{"exec", "run", "cp", "debug", "edit", "plugin", "config", "apply", "delete"},
		long:        []string{"kubeconfig"},
	},
	"gh":  {subcommands: []string{"alias", "extension", "api", "config", "auth", "codespace", "secret"}},
	"gcc": {check: compiler}, "clang": {check: compiler}, "cc": {check: compiler}, "g++": {check: compiler},
	"c++": {check: compiler}, "clang++": {check: compiler},
	"ld": {always: true}, "as": {short: "o", check: listed}, "readelf": {check: listed}, "objdump": {check: listed},
	"nm": {check: listed}, "ar": {check: listed}, "size": {check: listed}, "strings": {check: listed},
	"objcopy": {always: true}, "strip": {always: true}, "rustc": {
		short: "oCZL",
		long:  []string{"codegen", "emit", "out-dir", "extern"}, check: listed,
	},
	"date":     {short: "sf", long: []string{"set", "file"}},
	"hostname": {check: secondFile("")},
	"tree":     {short: "oR", long: []string{"output"}},
	"file":     {short: "fCm", long: []string{"files-from", "compile", "magic-file"}},
	"shuf":     {short: "o", long: []string{"output"}}, "iconv": {short: "o", long: []string{"output"}},
	"du": {reads: true, long: []string{"files0-from"}}, "wc": {reads: true, long: []string{"files0-from"}},
	"diff":  {reads: true, short: "l", long: []string{"paginate"}},
	"split": {long: []string{"filter"}},
	"dd":    {always: true},
	"tee":   {always: true}, "cp": {always: true}, "mv": {always: true}, "ln": {always: true},
	"install": {always: true},
	"xxd":     {short: "r", check: secondFile("writes its output to a file")},
	"base64":  {long: []string{"output"}, short: "o"},
	"jq":      {short: "Lf", long: []string{"from-file", "library-path", "slurpfile", "rawfile"}},
	"yq":      {short: "i", long: []string{"inplace", "in-place", "from-file", "split-exp"}},
	"gofmt":   {short: "w"}, "goimports": {short: "w"},
	"openssl": {always: true}, "gpg": {always: true}, "sqlite3": {always: true}, "psql": {always: true},
	"mysql": {always: true}, "gdb": {always: true}, "lldb": {always: true},
	"tcpdump": {short: "zw"}, "nmap": {always: true}, "nc": {always: true}, "ncat": {always: true},
	"socat": {always: true}, "telnet": {always: true}, "ftp": {always: true},
	"crontab": {always: true}, "systemctl": {check: systemRisk}, "launchctl": {always: true}, "tmux": {always: true},
	"screen": {always: true},
	"ip":     {short: "b", exact: []string{"-force", "-batch"}, subcommands: []string{"netns", "vrf"}},
	"top":    {always: true}, "gcore": {always: true}, "m4": {always: true}, "dc": {check: interpreter("ef")},
	"pandoc": {
		long:  []string{"filter", "lua-filter", "output", "pdf-engine", "template", "extract-media", "defaults"},
		short: "oFLd",
	},
	"guile": {check: interpreter("celsLxqCd")}, "racket": {check: interpreter("efltrpkmniIySXACGUWOLM")},
	"jshell": {always: true}, "jrunscript": {always: true}, "wish": {always: true}, "pry": {always: true},
	"irb":    {always: true},
	"byebug": {always: true}, "bpftrace": {always: true}, "latexmk": {always: true}, "pdftex": {always: true},
	"perlbug": {always: true}, "puppet": {always: true}, "octave": {
		short: "f",
		long:  []string{"eval", "path", "exec-path"},
	},
	"gnuplot": {short: "ec", check: interpreter("ec")}, "R": {short: "ef", long: []string{"file", "gui", "args"}},
	"ghc": {short: "eo"}, "clisp": {short: "xio"}, "hg": {
		long:  []string{"config", "cwd", "repository", "config-file"},
		short: "R",
	},
	"lftp": {always: true}, "mail": {always: true}, "mailx": {always: true}, "mutt": {always: true},
	"smbclient": {always: true}, "tftp": {always: true}, "finger": {always: true}, "whois": {short: "hp"},
	"hping3": {always: true},
	"lp":     {short: "h"}, "lpr": {short: "H"}, "cancel": {short: "h"}, "ab": {short: "pueg"},
	"lwp-download": {always: true}, "lwp-request": {always: true},
	"tailscale":  {subcommands: []string{"serve", "funnel", "ssh", "file", "up", "set"}},
	"ssh-keygen": {short: "DPswM"}, "ssh-copy-id": {always: true}, "sshfs": {always: true},
	"sysctl": {short: "wpf", check: assigning}, "virsh": {always: true}, "vipw": {always: true}, "vigr": {always: true},
	"rpm": {check: rpmRisk}, "dpkg": {
		short: "i",
		long:  []string{"install", "unpack", "configure", "admindir", "root", "instdir", "pre-invoke", "post-invoke"},
	},
	"apt-get": {short: "oc", long: []string{"option", "config-file"}, subcommands: []string{"changelog"}},
	"dnf": {
		subcommands: []string{"install", "localinstall", "shell"}, short: "c",
		long: []string{"setopt", "config"},
	},
	"zypper": {subcommands: []string{"install", "in", "shell"}},
	"pkg":    {subcommands: []string{"install", "add", "shell"}}, "opkg": {subcommands: []string{"install"}},
	"snap":   {subcommands: []string{"install", "run"}},
	"dosbox": {always: true}, "ctr": {always: true}, "fail2ban-client": {always: true}, "logrotate": {always: true},
	"check_log": {always: true}, "opencode": {always: true}, "volatility": {always: true},
	"xdg-user-dir": {always: true},
	"run-mailcap":  {always: true}, "minicom": {always: true}, "ranger": {always: true}, "ncdu": {always: true},
	"wireshark": {always: true}, "crash": {always: true}, "cpan": {always: true}, "cowsay": {short: "f"},
	"dvips":    {short: "R"},
	"busctl":   {long: []string{"address", "host", "machine"}, short: "HM"},
	"facter":   {long: []string{"custom-dir", "external-dir", "config"}},
	"exiftool": {dash: true, exact: []string{"-config", "-execute", "-if", "-w", "-W", "-o", "-@"}, check: assigning},
	"ffmpeg":   {dash: true, check: loading},
	"mypy": {long: []string{
		"junit-xml", "any-exprs-report", "html-report", "xml-report", "txt-report", "cache-dir",
		"python-executable",
	}},
	"printf": {short: "v"}, "test": {short: "vR"}, "[": {short: "vR"},
}

// same lists programs that take the options of another.
var same = map[string]string{
	"gawk": "awk", "mawk": "awk", "nawk": "awk", "gsed": "sed", "gtar": "tar", "bsdtar": "tar", "gfind": "find",
	"gsort": "sort",
	"egrep": "grep", "fgrep": "grep", "ggrep": "grep", "nodejs": "node", "vi": "vim", "view": "vim", "nvim": "vim",
	"vimdiff": "vim", "rview": "vim", "emacsclient": "emacs",
	"gmake": "make", "pip3": "pip", "wget2": "wget", "mailcap": "less", "lualatex": "pdftex", "luatex": "pdftex",
	"xetex": "pdftex", "pdflatex": "pdftex", "xelatex": "pdftex", "latex": "pdftex", "tex": "pdftex",
	"pypy": "python", "pypy3": "python", "luajit": "lua", "julia": "node", "ipython": "python", "zless": "less",
	"zmore": "more", "octave-cli": "octave", "cowthink": "cowsay", "aptitude": "apt-get", "apt": "apt-get",
	"yum":   "dnf",
	"rpmdb": "rpm", "rpmquery": "rpm", "rpmverify": "rpm",
}

var versioned = lazyregexp.New(
	`^(python|perl|ruby|lua|php|node|tclsh|pip|gcc|clang|g\+\+|clang\+\+)-?[0-9][0-9.]*$`)

// lookup finds a program's entry by its name.
func lookup(name string) (program, bool) {
	name = path.Base(name)
	name = strings.TrimSuffix(name, ".exe")
	if m := versioned().FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	if to, ok := same[name]; ok {
		name = to
	}
	p, ok := programs[name]
	return p, ok
}

// safeNames reports whether no file name that a wildcard matches can be a dangerous option. A file name may begin with
// an option of one letter or with a long one, which then counts; an exact word counts only as a whole.
func (p program) safeNames(pattern string) bool {
	if p.reads && strings.Trim(pattern, "*?") != "" {
		return true
	}
	return p.dash && p.check == nil && len(p.exact) > 0 && !slices.ContainsFunc(p.exact, func(word string) bool {
		met, err := path.Match(pattern, word)
		return met || err != nil
	})
}

// risk returns why a simple command may do more than a rule on its first words allows, or "".
func risk(args []word) string {
	name := args[0].text
	p, ok := lookup(name)
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.text
		if ok && a.glob && i > 0 && strings.IndexAny(a.text, "*?[-") == 0 && !p.safeNames(a.text) {
			return fmt.Sprintf(
				"a file may be called like an option of %s, and %s has dangerous ones: begin the wildcard with ./",
				name, name)
		}
	}
	if len(args) == 2 && slices.Contains([]string{"--help", "--version"}, texts[1]) {
		return ""
	}
	if base := programName(name); !ok && !startsOthers(base) {
		if known(base) {
			return ""
		}
		return unknownRisk(texts)
	}
	if p.always || !ok {
		return fmt.Sprintf("%s can run or write anything", name)
	}
	if why := p.riskOfOptions(name, texts[1:]); why != "" {
		return why
	}
	if len(p.subcommands) > 0 {
		words := texts[1:]
		if len(words) > 1 && !strings.HasPrefix(words[0], "-") {
			words = words[:1] // behind an option, any word may be the subcommand
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

// riskOfOptions returns why one of the arguments may make a program do more than its name tells, or "".
func (p program) riskOfOptions(name string, arguments []string) string {
	for i, a := range arguments {
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
	return ""
}
