package agentcore_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/model/script"
)

// TestCommandReachesSingleHosts runs commands that reach what the user allows, and are told of what they do not.
func TestCommandReachesSingleHosts(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request,
	) {
		fmt.Fprintf(w, "answer to %s\n", r.URL.Path)
	})
	good, other := httptest.NewServer(answer), httptest.NewServer(answer)
	defer good.Close()
	defer other.Close()
	goodHost, otherHost := good.Listener.Addr().String(), other.Listener.Addr().String()
	request := func(target string) string {
		return `exec 3<>"/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}"; printf 'GET ` + target +
			` HTTP/1.0\r\n\r\n' >&3; cat <&3`
	}
	w := newWorld(t, nil,
		script.Turn{
			Expect: []script.Expect{
				script.System("reaches no hosts but " + goodHost + ", docs.example.org, by the proxy"),
			},
			Answer: []script.Step{bash(request("http://" + goodHost + "/a"))},
		},
		answered([]string{"200 OK", "answer to /a", "exit code 0"}, bash(request("http://"+otherHost+"/b"))),
		answered([]string{"403 Forbidden", `note: the command could not reach a host: "` + otherHost +
			`" is not in network.allow; to allow it, the user adds`},
			bash(
				`exec 3<>"/dev/tcp/`+"127.0.0.1/"+good.URL[len(
					"http://127.0.0.1:"):]+`"; printf 'GET /direct HTTP/1.0\r\n\r\n' >&3; cat <&3`)),
		answered([]string{"answer to /direct"}, bash("(exec 3<>/dev/tcp/192.0.2.1/80) || echo unreachable")),
		answered([]string{"unreachable"}),
	)
	cfg := config.Default()
	cfg.NetworkAllow = []string{goodHost, "docs.example.org"}
	w.configured(cfg)
	w.session.SetTrusted(true)
	w.finishes(coder())
}
