package wire

import (
	"errors"
	"fmt"
	"sync"

	"go.lsp.dev/protocol"
)

// The methods of the lifecycle, and those that this package answers itself.
const (
	methodInitialize  = "initialize"
	methodInitialized = "initialized"
	methodShutdown    = "shutdown"
	methodExit        = "exit"
	methodCancel      = "$/cancelRequest"
)

// ErrNotReady is wrapped by the errors of calls and notifications that the lifecycle does not allow yet, or no longer.
var ErrNotReady = errors.New("the client must not be sent this now")

// phase is a place in a server's life, in order.
type phase int

const (
	starting     phase = iota // nothing but initialize is accepted
	initializing              // initialize is being worked on
	answered                  // it succeeded; the client has not said initialized yet
	running                   // the client has said initialized
	stopping                  // shutdown came and is being worked on
	stopped                   // shutdown was answered; only exit is left
)

// lifecycle is the state machine of "Server lifecycle" in LSP 3.18. The reading goroutine must pass it the incoming
// messages in wire order; the other methods may be called from any goroutine.
type lifecycle struct {
	mu    sync.Mutex
	phase phase
}

// request decides on a request, and moves on if it is initialize or shutdown. A nil error lets it pass.
func (l *lifecycle) request(method string) *Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.phase {
	case starting:
		if method != methodInitialize {
			return ServerNotInitialized(method)
		}
		l.phase = initializing
	case initializing:
		if method != methodInitialize {
			return ServerNotInitialized(method)
		}
		return InvalidRequest("initialize was sent before")
	case answered, running:
		switch method {
		case methodInitialize:
			return InvalidRequest("initialize was sent before")
		case methodShutdown:
			l.phase = stopping
		}
	case stopping, stopped:
		return InvalidRequest(fmt.Sprintf("%q came after shutdown", truncate(method)))
	}
	return nil
}

// notification decides on a notification other than exit, and moves on if it is initialized.
func (l *lifecycle) notification(method string) (pass bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if method == methodInitialized {
		if l.phase != answered {
			return false
		}
		l.phase = running
		return true
	}
	return l.phase == answered || l.phase == running
}

// initializeDone notes how initialize ended. After a failure the client may try again.
func (l *lifecycle) initializeDone(ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.phase != initializing {
		return
	}
	l.phase = starting
	if ok {
		l.phase = answered
	}
}

// shutdownDone notes that shutdown was worked on, with success or not.
func (l *lifecycle) shutdownDone() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase = stopped
}

// exitCode is the process's exit code if it ended now: 0 after shutdown, else 1.
func (l *lifecycle) exitCode() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.phase >= stopping {
		return 0
	}
	return 1
}

// outgoing decides on a message to the client; call is true for a request. The error wraps ErrNotReady.
func (l *lifecycle) outgoing(method string, call bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	refuse := func(why string) error {
		return fmt.Errorf("%s was not sent: %w: %s", method, ErrNotReady, why)
	}
	switch l.phase {
	case starting:
		return refuse("the client has not sent initialize")
	case initializing, answered:
		switch method {
		case protocol.MethodWindowShowMessage, protocol.MethodWindowLogMessage,
			protocol.MethodWindowShowMessageRequest, protocol.MethodTelemetryEvent:
			return nil
		}
		return refuse("the client has not sent initialized; wait for it")
	case stopping:
		if call {
			return refuse("the client has sent shutdown")
		}
	case stopped:
		return refuse("the client has sent shutdown")
	}
	return nil
}
