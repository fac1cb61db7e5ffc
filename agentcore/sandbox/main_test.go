package sandbox

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	Dispatch()
	if play := os.Getenv(playVariable); play != "" {
		os.Exit(plays[play]())
	}
	goleak.VerifyTestMain(m)
}

// playVariable makes the test binary play another program instead of running tests.
const playVariable = "SANDBOX_TEST_PLAY"

// plays are the programs that it can play.
var plays = map[string]func() int{}

// watchdog bounds every wait of these tests; it is no measure of anything.
const watchdog = 4 * time.Minute
