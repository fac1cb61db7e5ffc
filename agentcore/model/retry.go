package model

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// firstDelay is the wait before the second attempt if the provider names none; it doubles up to maxDelay.
	firstDelay = 500 * time.Millisecond
	maxDelay   = 20 * time.Second
	// maxGarbled bounds the attempts after answers that do not follow the wire: if the address belongs to another kind
	// of server, no attempt helps.
	maxGarbled = 3
)

// Retry is the policy for requests that failed: at the connection, by the provider (5xx), or by its rate limit (429,
// ErrRateLimit). It is never changed; any goroutine may use it.
type Retry struct {
	// MaxAttempts is the number of attempts, including the first request.
	MaxAttempts int
	// MaxElapsed is how long after the first failure an attempt may begin. The time of the answer that broke off does
	// not count: after a long answer, or a long silence, there would be no time left to ask again.
	MaxElapsed time.Duration
}

// Next returns how long to wait before the next attempt: the time that the provider named, or a time that doubles, both
// with jitter, so that many runs do not ask again at the same moment. attempts is the number of attempts so far,
// elapsed the time since the first failure, and failed the error of the last attempt. If there is to be no other
// attempt, Next returns the final error: failed itself if another attempt cannot help, or an *Error of the same kind
// that also names the limit.
func (p Retry) Next(attempts int, elapsed time.Duration, failed error) (time.Duration, error) {
	var known *Error
	if !errors.As(failed, &known) || !Retryable(failed) {
		return 0, failed
	}
	delay := known.RetryAfter + rand.N(firstDelay/2)
	if known.RetryAfter <= 0 {
		base := min(firstDelay<<min(attempts-1, 16), maxDelay)
		delay = base/2 + rand.N(base/2)
	}
	limit := p.MaxAttempts
	if known.Kind == ErrProtocol {
		limit = min(limit, maxGarbled)
	}
	switch {
	case attempts >= limit:
		if limit > 1 {
			return 0, known.ended(fmt.Sprintf("asked %d times in vain", attempts), known.Hint)
		}
		return 0, failed
	case known.RetryAfter > p.MaxElapsed:
		return 0, known.ended(
			fmt.Sprintf("it asks to wait %s, longer than the %s of retry.max_elapsed",
				known.RetryAfter.Round(time.Second), p.MaxElapsed),
			"start it again later, choose another model, or raise retry.max_elapsed")
	case elapsed+delay > p.MaxElapsed:
		return 0, known.ended(fmt.Sprintf("asked %d times in %s, up to the %s of retry.max_elapsed", attempts,
			elapsed.Round(time.Second), p.MaxElapsed), known.Hint)
	}
	return delay, nil
}

// ended is the error with a note about the attempts.
func (e *Error) ended(tried, hint string) *Error {
	last := *e
	last.Detail, last.Hint, last.Cause = fmt.Sprintf("%s (%s)", e.Detail, tried), hint, e
	return &last
}
