package model

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// firstDelay is what is waited before the second attempt where the provider did not say; it doubles up to maxDelay.
	firstDelay = 500 * time.Millisecond
	maxDelay   = 20 * time.Second
	// maxGarbled bounds the attempts at answers that are no answer of the wire: where the address is that of another
	// server, none helps.
	maxGarbled = 3
)

// Retry is the policy for requests that failed: at the connection, by the provider (5xx), or by its rate limit (429,
// ErrRateLimit). It is a value; any goroutine may use it.
type Retry struct {
	// MaxAttempts counts the first request, too.
	MaxAttempts int
	// MaxElapsed is how long after the first failure an attempt may begin. What was spent on an answer that broke off
	// does not count: a long answer, or a long silence, would leave no time to ask again.
	MaxElapsed time.Duration
}

// Next returns how long to wait before the next attempt: what the provider asked for, or a time that doubles, both
// with jitter, so that many runs do not come back together. attempts is how many were made, elapsed the time since the
// first of them failed, and failed the error of the last. Where no other is made, it returns the error to end with:
// failed itself, where another try is no use, or an *Error of the same kind that also says which bound was reached.
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

// ended is the error with what was tried.
func (e *Error) ended(tried, hint string) *Error {
	last := *e
	last.Detail, last.Hint, last.Cause = fmt.Sprintf("%s (%s)", e.Detail, tried), hint, e
	return &last
}
