package needs

import (
	"os"
	"runtime"
	"testing"
)

// probe is a test that notes how it was ended.
type probe struct {
	testing.TB
	ended string
}

func (p *probe) Helper() {}

func (p *probe) Fatal(...any) { p.ended = "failed"; runtime.Goexit() }

func (p *probe) Skip(...any) { p.ended = "skipped"; runtime.Goexit() }

func TestMissing(t *testing.T) {
	for _, test := range []struct{ ci, program, want string }{
		{"true", "no-such-program", "failed"},
		{"", "no-such-program", "skipped"},
		{"true", os.Args[0], ""},
	} {
		t.Setenv("CI", test.ci)
		p := &probe{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			Program(p, test.program, "none")
		}()
		<-done
		if p.ended != test.want {
			t.Errorf("CI=%q without %s: %q, want %q", test.ci, test.program, p.ended, test.want)
		}
	}
}
