package permission_test

import (
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/permission"
)

// starting are command lines that start another: C stands for its words, Q for them in quotes, D in double ones.
var starting = []string{
	// Shells, however their options are written.
	"bash -c Q", "bash -lc Q", "bash -xec Q", "bash --norc -c Q", "bash --noprofile --norc -lc Q",
	"bash -o pipefail -c Q", "bash -euo pipefail -c Q", "bash +x -c Q", "bash -O extglob -c Q", "bash --rcfile f -c Q",
	"bash -c Q name word",
	"sh -xc Q", "sh -c -e Q", "dash -ec Q", "ash -c Q", "zsh -fc Q", "/usr/bin/zsh -c Q", "ksh -c Q", "mksh -c Q",
	"csh -fc Q", "tcsh -c Q", "fish -c Q", "fish --command=Q", "fish -C Q", "yash -c Q", "elvish -c Q", "rc -c Q",
	"nu -c Q",
	"busybox sh -c Q", "busybox ash -lc Q", "bash <<< Q", "echo Q | sh", "echo Q | bash -s", "sh -s <<X\nC\nX",
	`bash -c '"$0" "$@"' C`, "bash -lc 'bash -xc D'",
	// Wrappers with all of their options.
	"env -S Q", "env -SQ", "env --split-string=Q", "env -u A C", "env -uA C", "env --unset A C", "env --unset=A C",
	"env -i A=b C", "env - C", "env -iu A B=c C", "/usr/bin/env C", "env --chdir=src C", "env -vu A C",
	"sudo --user=root -- C", "sudo --user root C", "sudo -E X=1 C", "sudo X=1 C", "sudo -uroot -- C", "sudo -nE C",
	"sudo -iu root C", "sudo -s C", "sudo -p x C", "sudo -C 3 C", "sudo --unheard C", "sudo bash -lc Q", "doas -u x C",
	"doas -C f C",
	"xargs C", "xargs -I % C", "xargs -I% C", "xargs -a f C", "xargs -n1 -d , C", "xargs -E x C", "xargs -i C",
	"xargs --replace C", "xargs --arg-file=f C", "xargs -0rn1 C", "xargs -P4 -n1 C", "xargs bash -lc Q",
	"xargs -I {} bash -xc Q", "echo Q | xargs -I{} sh -c {}",
	"/usr/bin/time -f x C", "/usr/bin/time -o f C", `\time -v C`, "nice -19 C", "nice -n 5 C", "ionice -c2 -n7 C",
	"ionice -p 3 C", "stdbuf -o L -e L C", "setsid -f C", "timeout -vk 5 10 C", "timeout --signal=KILL 10 C",
	"timeout -s9 10 C", "command -p C", "nohup -- C",
	// Programs that are there to start others.
	"strace -f -o x C", "strace C", "ltrace -S C", "perf stat C", "perf record -g -- C", "watch -n 1 C", "watch Q",
	"parallel C ::: a", "parallel -j4 Q ::: a", "flock f C", "flock -xn f -c Q", "su -c Q", "su - root -c Q",
	"su --command=Q", "su -lc Q",
	"script -qc Q /dev/null", "script --command Q", "script -q /dev/null C", "chroot --userspec=a / C",
	"chroot / bash -lc Q", "nsenter --target 1 --mount -- C", "unshare -r C", "setpriv --reuid 1 C",
	"runuser -u x -- C", "runuser -l x -c Q",
	"systemd-run --user --scope C", "systemd-run -p A=b C", "taskset -c 0 C", "chrt -f 1 C", "setarch x86_64 -R C",
	"prlimit --nofile=1 C", "valgrind --tool=memcheck C", "gdb -batch -ex run --args C", "tmux new-session -d Q",
	"tmux new -d C", "screen -S x -d -m C",
	"pkexec --user root C", "torsocks C", "proxychains C", "/lib64/ld-linux-x86-64.so.2 --library-path x /bin/C",
	"xvfb-run -a C", "dbus-run-session -- C", "fakeroot C", "rlwrap C", "entr C", "at now <<< Q", "echo Q | at now",
	"ssh h C", "ssh -t h Q",
	// Tools that run something of a project, and those that are not known.
	"uv run --with x C", "poetry run C", "pipenv run C", "npm exec -- C", "npm exec -c Q", "npx -c Q", "npx --yes C",
	"yarn exec C", "pnpm dlx C", "bundle exec C", "cargo watch -x Q", "docker run --rm x sh -c Q",
	"docker exec -it x C", "kubectl exec x -- sh -c Q",
	"launcher C", "launcher --times 3 -v C", "launcher Q", "launcher --run=Q", "./tools/launcher -- C",
	"conda-run -n x C", "just --shell C", "nix-shell --run Q", "go run x C",
	// Programs that find files, and languages.
	`find . -exec C \;`, "find . -exec C {} +", `find . -exec sh -c Q \;`, `find . -execdir C \;`, `find . -ok C \;`,
	"fd x -x C", "fd -e go -X C", `fd --exec C`, "rg --pre=Q x", `awk 'BEGIN { system("C") }'`, `perl -e 'system("C")'`,
	`python3 -c 'import os; os.system("C")'`,
	`python <<< 'import os; os.system("C")'`, `ruby -e 'exec "C"'`, `node -e 'require("child_process").execSync("C")'`,
	`lua -e 'os.execute("C")'`, "vim -c '!C' x", "tar cf x y --checkpoint-action=exec=Q", "tar cf x y -I Q",
	"make SHELL=Q",
	// git, and the shell's own.
	"git -c alias.x=!Q x", "git -c 'alias.x=!C' x", "git submodule foreach Q", "git submodule foreach --recursive C",
	"git rebase -x Q", "git rebase --exec=Q HEAD", "git bisect run C", "git bisect run sh -c Q",
	"git -C src -c core.pager=Q log", "git filter-branch --tree-filter Q",
	"eval C", "eval Q", "exec -a x C", "builtin eval Q", "trap Q EXIT", "coproc C", "source <(echo Q)", "echo x $(C)",
	"cat <<X\n$(C)\nX",
}

// TestDenyReaches starts what a rule denies by all these lines, where everything else is allowed, and where only the
// sandbox allows.
func TestDenyReaches(t *testing.T) {
	for _, c := range []struct{ command, rule string }{
		{"rm -rf x", "rm*"},
		{"rm -fr x", "rm -rf*"},
		{"git push --force", "git push --force*"},
		{"git clean -xdf", "git clean -f*"},
	} {
		open := policy(permission.Default, user(allow("bash", "*"), deny("bash", c.rule)))
		only := policy(permission.Default, user(deny("bash", c.rule)))
		for _, line := range starting {
			words := strings.Split(line, " ")
			for i, w := range words {
				w = strings.ReplaceAll(w, "Q", "'"+c.command+"'")
				if w == "C" || strings.HasSuffix(w, "/C") || strings.ContainsAny(w, `"!)(`) ||
					strings.Contains(w, "\n") {
					w = strings.ReplaceAll(w, "C", c.command)
				}
				words[i] = strings.ReplaceAll(w, "D", `"`+c.command+`"`)
			}
			command := strings.Join(words, " ")
			if d := open.Decide(bash(command), nil); d.Action == permission.Allow {
				t.Errorf("deny %s: %q is allowed: %s", c.rule, command, d.Reason)
			}
			if d := only.Decide(sandboxed(command), nil); d.Action == permission.Allow {
				t.Errorf("deny %s: %q is allowed in a full sandbox: %s", c.rule, command, d.Reason)
			}
		}
	}
}

// TestDenyHolds are lines in which it is certain that the denied command is started: no question, and no mode lifts
// that.
func TestDenyHolds(t *testing.T) {
	p := policy(permission.Bypass, user(allow("bash", "*"), deny("bash", "rm*")))
	for _, command := range []string{
		"bash -lc 'rm x'", "zsh -c 'rm x'", "fish --command='rm x'", "bash -o pipefail -c 'ls; rm x'", "env -u A rm x",
		"env -S 'rm x'", "sudo --user=root -- rm x", "sudo -E X=1 rm x", "xargs -I % rm %", "xargs -n1 -d , rm",
		"/usr/bin/time -f x rm x",
		"strace -f -o x rm x", "su -c 'rm x'", "watch -n 1 'rm x'", "chroot / rm x", "flock f -c 'rm x'",
		"timeout -vk 5 10 rm x", "find . -exec rm {} +", "find . -exec nice rm {} \\;",
	} {
		if d := p.Decide(bash(command), nil); d.Action != permission.Deny {
			t.Errorf("%q: %s: %s", command, d.Action, d.Reason)
		}
	}
}

// TestDenySpelling is about options of a rule that denies, which may be written in many ways.
func TestDenySpelling(t *testing.T) {
	for _, c := range []struct{ rule, held, let string }{
		{
			"rm -rf*",
			"rm -rf x|rm -fr x|rm -r -f x|rm -f -r x|rm -Rf x|rm -rfv x|rm -vrf x|rm --recursive --force x|" +
				"rm --force -r x|rm --rec --fo x|rm x -rf|rm -r x -f|/bin/rm -fr x|sudo rm -fr x",
			"rm x|rm -f x|rm -r x|rm -i x|ls -rf",
		},
		{"rm --recursive*", "rm -r x|rm -R x|rm -rf x|rm --recursive x|rm --rec x", "rm -f x|rm x"},
		{
			"git clean -f*",
			"git clean -f|git clean -fd|git clean -df|git clean -xdf|git clean -d -x -f|git clean --force|" +
				"git clean -d --force|git -C src clean -fd|git clean -nf",
			"git clean -n|git clean -nd|git status -f|git clean",
		},
		{
			"git push --force*",
			"git push --force|git push -f|git push origin main -f|git push -fu origin main|git push --forc|" +
				"git push --force=true|git push --force-with-lease",
			"git push|git push -u origin main|git push --follow-tags",
		},
		{"git push -f*", "git push --force origin|git push -uf origin", "git push origin|git push --tags"},
		{
			"git branch -D*", "git branch -D x|git branch -d -f x|git branch --delete --force x|git branch -df x",
			"git branch -d x|git branch --delete x|git branch -f x",
		},
		{"git branch --delete --force*", "git branch -D x|git branch -df x", "git branch -d x"},
		{"sed -i*", "sed -i s/a/b/ x|sed --in-place s/a/b/ x|sed -ni p x|sed -i.bak p x", "sed -n p x"},
		{
			"find -delete*", "find . -delete|find . -name x -delete",
			"find . -type d -ls|find . -depth -empty -type f -name let",
		},
		{"go test -c*", "go test -c|go test ./x -c", "go test -race|go test -v ./x"},
		{"touch lock*", "touch lock|touch lockfile|touch lock x", "touch x"},
		{"rm -rf /", "rm -rf /|rm -fr /|rm -r -f /|rm --recursive --force /", "rm -rf x|rm -rf / x"},
	} {
		p := policy(permission.Default, user(allow("bash", "*"), deny("bash", c.rule)))
		for command := range strings.SplitSeq(c.held, "|") {
			if d := p.Decide(bash(command), nil); d.Action != permission.Deny {
				t.Errorf("deny %s: %s: %s: %s", c.rule, command, d.Action, d.Reason)
			}
		}
		for command := range strings.SplitSeq(c.let, "|") {
			if d := p.Decide(bash(command), nil); d.Action != permission.Allow {
				t.Errorf("deny %s: %s: %s: %s", c.rule, command, d.Action, d.Reason)
			}
		}
	}
}

// TestDenyLets are lines that only speak of what is denied: their programs are known to start nothing of it.
func TestDenyLets(t *testing.T) {
	rules := user(allow("bash", "*"), deny("bash", "rm*"), deny("bash", "git push --force*"),
		deny("bash", "git reset --hard*"), deny("bash", "git clean -f*"), deny("bash", "shutdown*"),
		deny("bash", "dd*"))
	for _, command := range []string{
		"echo rm", "echo 'rm -rf /'", `echo "git push --force"`, "grep rm file", "grep -rn 'rm -rf' .",
		"rg -n 'git reset --hard' docs", "cat rm", "ls rm dd", "git commit -m 'rm -rf is gone'",
		`git commit -m "never git push --force"`, "git log --grep='git reset --hard'", "git rm x", "git grep 'rm -rf'",
		"printf '%s\\n' 'rm x'", "cat <<'X'\nrm -rf /\nX", "cat <<X\ngit push --force\nX", "grep x <<< 'rm -rf /'",
		"touch rm", "mkdir rm", "mv rm x", "cp dd x", "tee x <<< 'rm -rf /'", "which rm", "command -v rm", "type rm",
		"test -x /bin/rm", "find . -name rm", "find . -name 'rm*' -exec wc -l {} +", "xargs grep rm",
		"timeout 5 grep rm f", "nice ls rm",
		"sh -c 'echo rm'", "bash -lc 'grep rm x'", "sudo grep rm x", "env A=b ls rm", "go test -run rm ./...",
		"go vet ./rm", "make clean", "npm test", "npm run rm", "docker ps", "awk '{print $1}' rm", "sed -n 1,5p rm",
		"curl -d 'rm -rf /' https://example.org", "gh pr create --title 'rm -rf' --body 'git push --force'", "git push",
		"git clean -n",
		"pytest -k 'not slow'", "eslint src --max-warnings 0", "mytool 'please do not rm -rf this'",
		"mytool --message=\"it's fine\"", "for i in rm; do echo $i; done", "python manage.py test", "sort rm | uniq -c",
		"wc -l rm", "diff rm dd", "ls # rm x",
	} {
		if d := policy(permission.Default, rules).Decide(bash(command), nil); d.Action != permission.Allow {
			t.Errorf("%q: %s: %s", command, d.Action, d.Reason)
		}
		if d := policy(permission.Default, user(rules.Rules[1:]...)).Decide(sandboxed(command),
			nil); d.Action != permission.Allow {
			t.Errorf("%q in a full sandbox: %s: %s", command, d.Action, d.Reason)
		}
	}
}

// TestOptionsHold are calls of programs that are allowed by name, with options by which they run or write something
// else.
func TestOptionsHold(t *testing.T) {
	for _, command := range []string{
		"go test . -args -test.cpuprofile=f", "go test . -args -test.testlogfile=f",
		"go test ./... -args x -test.outputdir /tmp", "go test . -args --test.memprofile f",
		"go test -test.mutexprofile=f", "go test . -args -test.gocoverdir=d", "go test . -args -test.trace=f",
		"go test -blockprofile f", "cargo test -- --logfile f",
		"guile -c '(system \"x\")'", "guile -l x", "racket -f x", "racket -e '(system \"x\")'", "racket -t x",
		"pdftex --shell-escape x", "pdftex -shell-escape x", "luatex -shell-escape x", "hg --config alias.x='!x' x",
		"hg --config=ui.editor=x commit", "apt-get update -o APT::Update::Pre-Invoke::=x", "apt-get -o A=b update",
		"apt-get -c f update",
		"rpm --eval '%(x)'", "rpm -E '%{lua:x}'", "rpm -ivh x.rpm", "rpmquery --eval '%(x)'",
		"gnuplot -e 'system(\"x\")'", "gnuplot", "fzf --bind 'enter:execute(x)'", "fzf --preview 'cat {}'",
		"fzf --listen=1234", "as @f", "readelf -a @f", "objdump @f", "ld @f", "rustc @f", "tool @f",
		"elvish", "elvish -c 'print x'", "yash", "yash -c x", "rc", "rc -c x", "posh", "sash", "nu -c x", "zsh -c x",
		"fish -c x", "jshell", "pry", "irb", "wish x", "jrunscript -e 'x()'", "octave --eval 'system(x)'",
		"octave-cli --eval=x", "R -e 'system(\"x\")'", "R --no-save -e 'x'", "ghc -e 'x'", "clisp -x '(x)'",
		"bpftrace -e 'BEGIN { system(x) }'", "puppet apply -e 'x'", "latexmk -e 'x'", "lftp -c '!x'",
		"mail --exec='!x'", "dnsmasq --conf-script=x", "restic --password-command=x backup", "sqlmap --eval=x",
		"knife exec -E x", "bee eval x", "ansible-test shell", "bundle console", "rake -p x",
		"busctl --address=unixexec:path=x",
		"cowsay -f ./x.pl y", "dvips -R0 x", "facter --custom-dir=x y", "ssh-keygen -D ./x.so",
		"sshfs -o ssh_command=x h: d", "sysctl 'kernel.core_pattern=|x'", "run-mailcap x", "vipw", "virsh x",
		"xdg-user-dir '}; x #'", "dpkg -i x.deb", "dnf install ./x.rpm", "snap install x", "pkg install x",
		"tsc a.ts --outFile b", "mypy a --junit-xml b.xml", "pytest --junitxml=out/x.xml",
		"unheard --log-file=../x.log", "unheard -o out/f", "unheard --output build/x.bin", "unheard --dump-bin x.bin",
		"exiftool -filename=x y", "exiftool -o x y", "ffmpeg -i a -af ladspa=file=x b", "unheard --pre-command x",
		"unheard --exec x", "unheard -e 'a; b'",
		"unheard --hook=x", "unheard --load ./x.so", "unheard -c '!x'", "unheard --plugin x", "unheard -x '$(y)'",
		"unheard --config a.b=c", "unheard -test.cpuprofile=f", "openvt -- x", "rlwrap x", "capsh --", "strace ls",
		"curl gopher://h/_x", "cargo frobnicate x", "awk '{ print > \"f\" }' a", "awk '{ system($1) }' a", "awk -f x a",
		"awk '{ print | \"sh\" }' a", "systemctl -H h status", "systemctl start x",
		"git rebase -s x main", "git rebase --interactive main", "find . -printf '%p' -delete", "ls | xargs cat",
		"find . -printf '/etc/passwd' | xargs cat", "cat f | xargs cat", "find . | xargs rg x",
		"find . | xargs -a f cat", "find . | grep x f | xargs cat", "find . | xargs cat < f",
		"echo -n '/etc/passwd' | xargs cat", "find . | xargs sh -c 'x'", "find . | xargs -I{} sh -c 'cat {}'",
		"find . -exec sh -c 'cat {}' \\;", "find . -exec {} \\;", "find . -execdir cat {} \\;",
		"find . -exec sed -i p {} +", "echo ${X@P}", "echo $SECRET", "echo ${x:=y}", "printf $(ls) x", "printf -v $1 x",
		"test $(ls)", "ls $(pwd)", "git $(ls)", "cat \"$(ls)\"", "sort *.txt", "rg *.txt", "test -f *.txt",
		"hash -p x ls", "cat ~root/x", "ls > ~/x", "cat < $HOME/x", "~/x", "$HOME/x",
	} {
		program, _, _ := strings.Cut(command, " ")
		rules := user(allow("bash", program+"*"))
		for _, name := range []string{"cat", "ls", "find", "grep", "sed", "sh", "rg", "xargs", "echo", "pwd"} {
			rules.Rules = append(rules.Rules, allow("bash", name+"*"))
		}
		if d := policy(permission.Default, rules).Decide(bash(command), nil); d.Action == permission.Allow {
			t.Errorf("%q is allowed: %s", command, d.Reason)
		}
	}
}

// TestGateLetsDecided lists commands of which every part is decided by a rule for a program, or for reading.
func TestGateLetsDecided(t *testing.T) {
	p := policy(permission.Default, everyday, user(allow("read", "/usr/**"), allow("read", "~/notes/**"),
		allow("bash", "rm*"), allow("bash", "pytest*"), allow("bash", "systemctl*"), allow("bash", "hash*"),
		allow("bash", "basename*"), allow("bash", "ssh*"), allow("bash", "mytool*"), allow("bash", "git ls-files*")))
	for _, command := range []string{
		"cat ~/notes/a.md", "ls -la ~/notes", "cat $HOME/notes/a.md", `cat "$HOME/notes/a.md"`,
		"cat ${HOME}/notes/a.md", "ls /usr/share/doc", "cat /usr/share/doc/a", "grep -rn foo /usr/include",
		"find /usr/share -name '*.txt'", "head -3 /usr/share/a | wc -l", "test -x /usr/bin/git && echo yes",
		"[ -x /usr/bin/rm ] && echo yes", "wc -l /usr/share/a", "tail -n 5 ~/notes/b",
		"find . -name '*.go' | xargs wc -l", "find . -name '*.go' | xargs grep -n foo",
		"find . -type f -print0 | xargs -0 cat", "git ls-files | xargs wc -l", "rg -l foo src | xargs head -5",
		"grep -rl foo . | xargs grep bar", "git diff --name-only | xargs cat",
		"find . -name '*.md' | sort | head -n 3 | xargs cat", "echo a.txt b.txt | xargs cat",
		"echo file.txt | xargs -I {} cat '{}'", "find . | xargs -I % cat %", "find . | grep -v test | xargs wc -l",
		"find . 2>/dev/null | xargs -n1 basename",
		"echo $(git status --short)", "echo `git log -1`", `echo "on $(git branch --list) now"`, "echo $(date)",
		"echo $(echo $(ls))", "printf '%s\\n' \"$(git log -1)\"", "cat <<< \"$(git log -1)\"",
		"cat <<X\n$(git status)\nX", "for f in $(git grep -l x); do echo $f; done",
		"for f in *.go; do echo \"file $f\"; done", "case $(git branch --list) in main) ls ;; esac",
		"[[ $(git status --short) == '' ]] && echo clean", "basename $(ls)",
		"find . -name '*.go' -exec wc -l {} +", "find . -name '*.go' -exec grep -n foo {} \\;",
		"find src -type f -exec cat {} + | head", "find . -name '*.tmp' -exec rm {} \\;",
		"find . -exec echo {} \\; -exec cat {} \\;",
		"echo $HOME", `echo "$HOME"`, "echo ~", "echo $?", "ls; echo $?", "ls; [ $? -eq 0 ] && echo ok",
		"test $? -eq 0", "echo $$ $#", "echo $USER ${#x}", "ls *.txt", "wc -l *.txt", "grep foo *.txt",
		"grep -l foo *.go", "find . -name *.txt", "cat src/*.md", "command -v git", "command -V ls",
		"if command -v git >/dev/null; then echo found; fi", "hash git", "hash -t ls",
		"# list\nls", "ls # the files\ngit status", "# list \\x\nls", "# list\nls \\\n  -la", "echo $'a\\nb'",
		"git push -u origin main", "git rebase main", "awk '{print $1}' a.txt", "awk -F: '{ print $1, $NF }' a",
		"awk -F , 'NR==3' a", "systemctl status nginx", "ssh --version", "less --help", "tar --version",
		"pytest -k 'a and not b' tests", "pytest -x tests/a.py", "mytool build --release -o json",
		"mytool -c conf.toml", "mytool --name x -e production", "cargo test --release", "cargo clippy", "rm build/a.o",
	} {
		if d := p.Decide(bash(command), nil); d.Action != permission.Allow {
			t.Errorf("%q: %s: %s", command, d.Action, d.Reason)
		}
	}
	for _, command := range []string{
		"cat ~/x", "ls ~", "cat /etc/passwd", "cat $HOME/.netrc", "ls /usr/../etc",
		"cat ~/notes/../x", "cat /usr/share/id_rsa", "grep -r x ~", "rm ~/notes/a", "rm /usr/x", "cd ~/notes && ls",
		"cat ~root/x", "echo /etc/passwd | xargs cat", "echo .env | xargs cat", "ls | xargs cat", "find / -name x",
		"find /etc | xargs cat", "cat ~/notes/.env",
	} {
		if d := p.Decide(bash(command), nil); d.Action == permission.Allow {
			t.Errorf("%q is allowed: %s", command, d.Reason)
		}
	}
}
