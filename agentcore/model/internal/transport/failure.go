package transport

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/model"
)

const (
	// maxDetail bounds Error.Detail, in bytes.
	maxDetail = 500
	// maxWait bounds Error.RetryAfter.
	maxWait = 24 * time.Hour
)

// Fault is what a vendor says about a failure, in an error answer or in a stream.
type Fault struct {
	Type, Code, Message string
	// After is how long the vendor asks to wait, 0 where it does not say. Headers that say so come first.
	After time.Duration
}

// Error is what the vendor says. A fault is itself the error of the exchange in whose stream it came.
func (f *Fault) Error() string { return f.Message }

// ParseFault reads a fault from the JSON of an error answer or event. Vendors and servers that are
// compatible with them agree on an "error" object with "message" and "type"; others send a string, or
// put the members at the top, or call the text "detail". Google's has "status" for the type, details of several types
// (google.rpc.Status; AIP-193), and may stand in a list. ok is false where raw says nothing of a fault.
func ParseFault(raw []byte) (fault Fault, ok bool) {
	type members struct {
		Error   json.RawMessage `json:"error"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Status  json.RawMessage `json:"status"`
		Details json.RawMessage `json:"details"`
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	var outer members
	if json.Unmarshal(raw, &outer) != nil {
		return fault, false
	}
	if text := plain(outer.Error); text != "" {
		var inner members
		if json.Unmarshal(outer.Error, &inner) == nil {
			fault = Fault{
				Type: cmp.Or(plain(inner.Type), plain(inner.Status)), Code: plain(inner.Code),
				Message: cmp.Or(plain(inner.Message), plain(inner.Detail), text),
			}
			fault.After = cmp.Or(delayIn(inner.Details), delaySaid(fault.Message))
			return fault, true
		}
		return Fault{Message: text, After: delaySaid(text)}, true
	}
	fault = Fault{
		Type: plain(outer.Type), Code: plain(outer.Code),
		Message: cmp.Or(plain(outer.Message), plain(outer.Detail)),
	}
	fault.After = delaySaid(fault.Message)
	return fault, fault.Message != ""
}

// delayIn finds the delay of a RetryInfo among the details of a google.rpc.Status.
func delayIn(details json.RawMessage) time.Duration {
	var list []struct {
		RetryDelay string `json:"retryDelay"`
	}
	if json.Unmarshal(details, &list) != nil {
		return 0 // there are none, or they are of another form
	}
	for _, detail := range list {
		if delay, err := time.ParseDuration(detail.RetryDelay); err == nil {
			return delay
		}
	}
	return 0
}

// said matches a time to wait in the words of a refusal, which is all that an error within a stream has: "Please try
// again in 1.898s." (OpenAI), "Please retry in 34.07s." (Google).
var said = lazyregexp.New(`(?i)\b(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)`)

// delaySaid finds the time to wait in the text of a fault.
func delaySaid(message string) time.Duration {
	found := said().FindStringSubmatch(message)
	if found == nil {
		return 0
	}
	delay, err := time.ParseDuration(found[1])
	if err != nil {
		return 0 // in other units, or none
	}
	return delay
}

// plain returns a JSON string's text, "" for null and false, and any other JSON as it is.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	if raw := string(raw); raw != "null" && raw != "false" {
		return raw
	}
	return ""
}

// overflow matches what vendors and servers say when a conversation is too long for the model.
var overflow = lazyregexp.New(
	`(?i)context[_ -]length[_ -]exceeded|maximum context length|prompt is too long|exceeds? (the )?(model'?s? )?(maximum |available )?context|` +
		`exceed_context_size|context (window|size|limit) (is )?exceed|longer than the model'?s context|input (is )?too long|too many (input )?tokens|reduce the length of (the|your) (messages|prompt|input)|` +
		`exceeds the maximum number of (input )?tokens|token count .* exceeds the maximum|request_too_large`)

// billing matches a refusal for want of money, which no waiting helps.
var billing = lazyregexp.New(
	`(?i)insufficient_quota|insufficient[_ ]balance|credit balance is too low|exceeded your current quota|billing_error|billing_hard_limit`)

// badKey matches a refusal of the key with the status of a bad request, as Google sends it.
var badKey = lazyregexp.New(`API_KEY_INVALID|API key not valid|API key expired`)

// unpaid reports whether the fault says that money is missing. Google uses the same words for quotas per minute, whose
// type is RESOURCE_EXHAUSTED.
func (f Fault) unpaid() bool {
	return f.Type != "RESOURCE_EXHAUSTED" && billing().MatchString(f.Type+" "+f.Code+" "+f.Message)
}

// Sort finds the kind of a failure. status is the HTTP status, or 0 for an error inside a stream.
func (f Fault) Sort(status int) model.ErrorKind {
	if code, err := strconv.Atoi(f.Code); err == nil && status == 0 && code >= 400 && code < 600 {
		status = code // some servers put the status of their own upstream there
	}
	said := f.Type + " " + f.Code + " " + f.Message
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return model.ErrContext
	case f.unpaid():
		return model.ErrAuth
	case status == http.StatusBadRequest && badKey().MatchString(said):
		return model.ErrAuth
	case (status == 0 || status == 400 || status == 422 || status == 500) && overflow().MatchString(said):
		return model.ErrContext
	}
	switch status {
	case 0:
	case http.StatusTooManyRequests:
		return model.ErrRateLimit
	case http.StatusServiceUnavailable, 529:
		return model.ErrOverloaded
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusPaymentRequired, http.StatusProxyAuthRequired:
		return model.ErrAuth
	case http.StatusNotFound:
		return model.ErrNotFound
	case http.StatusRequestTimeout:
		return model.ErrNetwork
	default:
		if status >= 500 {
			return model.ErrServer
		}
		return model.ErrInvalid
	}
	kinds := map[string]model.ErrorKind{
		"overloaded_error": model.ErrOverloaded, "server_overloaded": model.ErrOverloaded,
		"rate_limit_error": model.ErrRateLimit, "rate_limit_exceeded": model.ErrRateLimit, "tokens": model.ErrRateLimit,
		"requests":             model.ErrRateLimit,
		"authentication_error": model.ErrAuth, "permission_error": model.ErrAuth, "invalid_api_key": model.ErrAuth,
		"not_found_error": model.ErrNotFound, "model_not_found": model.ErrNotFound,
		"invalid_request_error": model.ErrInvalid, "BadRequestError": model.ErrInvalid,
		"timeout_error": model.ErrNetwork, "invalid_prompt": model.ErrInvalid,
		// google.rpc.Code
		"RESOURCE_EXHAUSTED": model.ErrRateLimit, "UNAVAILABLE": model.ErrOverloaded,
		"DEADLINE_EXCEEDED": model.ErrNetwork,
		"UNAUTHENTICATED":   model.ErrAuth, "PERMISSION_DENIED": model.ErrAuth, "NOT_FOUND": model.ErrNotFound,
		"INVALID_ARGUMENT": model.ErrInvalid, "FAILED_PRECONDITION": model.ErrInvalid,
	}
	for _, word := range []string{f.Code, f.Type} {
		if kind, ok := kinds[word]; ok {
			return kind
		}
	}
	return model.ErrServer
}

// fault makes the error for a fault that the vendor reported.
func (x *Exchange) fault(fault Fault, status int) *model.Error {
	detail := cmp.Or(fault.Message, fault.Type, fault.Code, http.StatusText(status), "no reason was given")
	failure := x.failure(fault.Sort(status), detail, nil)
	failure.Status = status
	if model.Retryable(failure) {
		failure.RetryAfter = min(max(fault.After, 0), maxWait)
	}
	if fault.unpaid() {
		failure.Hint = "the account has no credit left: look at its billing page, or choose another model"
	}
	return failure
}

// Protocol makes the error for an answer that is no valid stream.
func (x *Exchange) Protocol(cause error, format string, args ...any) *model.Error {
	return x.failure(model.ErrProtocol, fmt.Sprintf(format, args...), cause)
}

// Cut makes the error for a stream that ended too early. Where the answer was no stream from the start, the error says
// that.
func (x *Exchange) Cut(missing string) *model.Error {
	if x.body != nil && !looksLikeStream(x.body.head) {
		return x.Protocol(nil, "the answer is no event stream; it begins: %s", x.body.head)
	}
	return x.failure(model.ErrNetwork, "the answer was cut off before its end ("+missing+" did not come)",
		io.ErrUnexpectedEOF)
}

// failed turns what went wrong into the error to yield: the context's own error where the caller gave up,
// else a *model.Error.
func (x *Exchange) failed(err error) error {
	if ctxErr := x.caller.Err(); ctxErr != nil {
		return ctxErr
	}
	var known *model.Error
	var fault *Fault
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	var address *url.Error
	reason := err.Error()
	if errors.As(err, &address) {
		reason = address.Err.Error()
	}
	switch {
	case errors.Is(context.Cause(x.Context), errIdle):
		return x.failure(model.ErrNetwork, fmt.Sprintf("the server sent nothing for %s", x.idle), errIdle)
	case errors.As(err, &known):
		return known
	case errors.As(err, &fault):
		return x.fault(*fault, 0)
	case errors.Is(err, bufio.ErrTooLong), errors.Is(err, errTooLong):
		return x.Protocol(err, "a line of the answer, or all of it, is too long: %s", reason)
	case errors.As(err, &syntax), errors.As(err, &wrongType):
		return x.Protocol(err, "the answer holds invalid JSON: %s", reason)
	}
	failure := x.failure(model.ErrNetwork, reason, err)
	if errors.Is(err, syscall.ECONNREFUSED) {
		failure.Hint = "nothing listens there: start the server; " + x.upstream.urlHint
	}
	return failure
}

// refused makes the error for an answer with an error status (or a redirect).
func (x *Exchange) refused(response *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
	if err != nil && len(raw) == 0 && x.Context.Err() != nil {
		return x.failed(err)
	}
	if response.StatusCode < 400 {
		failure := x.failure(model.ErrInvalid,
			"the server redirects to "+response.Header.Get(
				"Location")+"; agentls does not follow, so that the key stays with the host it was given for", nil)
		failure.Status = response.StatusCode
		failure.Hint = "name the final address; " + x.upstream.urlHint
		return failure
	}
	fault, ok := ParseFault(raw)
	if !ok {
		fault = Fault{Message: page(raw)}
	}
	failure := x.fault(fault, response.StatusCode)
	if model.Retryable(failure) {
		failure.RetryAfter = cmp.Or(x.upstream.retryAfter(response.Header, time.Now()), failure.RetryAfter)
	}
	return failure
}

// notAStream makes the error for a page or a JSON document with status 200.
func (x *Exchange) notAStream(response *http.Response, kind string) error {
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
	if err != nil && len(raw) == 0 {
		return x.failed(err)
	}
	var members struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(raw, &members) == nil && plain(members.Error) != "" {
		fault, _ := ParseFault(raw)
		return x.fault(fault, 0)
	}
	return x.Protocol(nil, "the server answered with %s instead of an event stream: %s", kind, page(raw))
}

var (
	title = lazyregexp.New(`(?is)<title[^>]*>(.*?)</title>`)
	tag   = lazyregexp.New(`(?s)<[^>]*>`)
)

// page returns what an answer that is no known JSON says: the title of an HTML page, or the text.
func page(raw []byte) string {
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("<")) {
		return string(bytes.TrimSpace(raw))
	}
	if found := title().FindSubmatch(raw); found != nil {
		return "an HTML page, " + strings.TrimSpace(string(found[1]))
	}
	return "an HTML page, " + strings.Join(strings.Fields(string(tag().ReplaceAll(raw, []byte(" ")))), " ")
}

// looksLikeStream reports whether an answer begins as server-sent events do, or is still too short to tell (WHATWG
// HTML, section 9.2.5: the fields are event, data, id and retry).
func looksLikeStream(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), "\r\n")
	line, _, whole := bytes.Cut(head, []byte("\n"))
	field, _, colon := strings.Cut(string(line), ":")
	fields := []string{"", "event", "data", "id", "retry"}
	if colon {
		return slices.Contains(fields, field)
	}
	return !whole && slices.ContainsFunc(fields, func(f string) bool { return strings.HasPrefix(f, field) })
}

// failure makes an error with the hint of its kind.
func (x *Exchange) failure(kind model.ErrorKind, detail string, cause error) *model.Error {
	return &model.Error{
		Kind: kind, Provider: x.upstream.name, Detail: x.upstream.clean(detail),
		Hint: x.upstream.hint(kind), Cause: cause,
	}
}

// refuse makes an error for a request that is not sent at all.
func (u *Upstream) refuse(kind model.ErrorKind, detail string, cause error) *model.Error {
	return &model.Error{Kind: kind, Provider: u.name, Detail: u.clean(detail), Hint: u.hint(kind), Cause: cause}
}

func (u *Upstream) hint(kind model.ErrorKind) string {
	switch kind {
	case model.ErrRateLimit:
		return "wait, run fewer agents at once, or choose another model"
	case model.ErrOverloaded, model.ErrServer:
		return "the provider has trouble: wait, or choose another model"
	case model.ErrNetwork:
		return "check the network; " + u.urlHint
	case model.ErrProtocol:
		return "what answered is no model server, perhaps a proxy; " + u.urlHint
	case model.ErrAuth:
		return u.keyHint
	case model.ErrNotFound:
		return "check the model's name; " + u.urlHint
	case model.ErrContext:
		return "the conversation is too long for the model: start a new one, name fewer files, or choose a " +
			"model with a larger context"
	}
	return "the provider refused the request as it is: check the model's name and settings"
}

// clean takes secrets and control characters out of a text and shortens it.
func (u *Upstream) clean(text string) string {
	for _, secret := range u.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[key]")
			text = strings.ReplaceAll(text, url.QueryEscape(secret), "[key]")
		}
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	if len(text) <= maxDetail {
		return text
	}
	end := maxDetail - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// retryAfter reads how long to wait: Retry-After in milliseconds, in seconds or as a date (RFC 9110, section
// 10.2.3; a date counts from the server's own clock), else the vendor's headers. It is never negative and at most a
// day.
func (u *Upstream) retryAfter(header http.Header, now time.Time) time.Duration {
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	var wait time.Duration
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		wait = scale(ms, time.Millisecond)
	} else if seconds, err := strconv.ParseFloat(header.Get("Retry-After"), 64); err == nil {
		wait = scale(seconds, time.Second)
	} else if date, err := http.ParseTime(header.Get("Retry-After")); err == nil {
		wait = date.Sub(now)
	} else if u.resets != nil {
		wait = u.resets(header, now)
	}
	return min(max(wait, 0), maxWait)
}

func scale(n float64, unit time.Duration) time.Duration {
	if !(n > 0) { // also NaN
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(maxWait)))
}
