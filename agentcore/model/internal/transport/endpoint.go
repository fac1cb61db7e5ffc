package transport

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/model"
)

// Options says where a model is. Nothing is read from the environment but the proxy.
type Options struct {
	// Name is the provider's name, in Model.Name and in errors; empty means the vendor's.
	Name string
	// Model is the server's id of the model; it is sent as it is.
	Model string
	// BaseURL is the server's address, in the form that the wire's package names; empty means the vendor's.
	BaseURL string
	// Key is sent as the vendor wants it. An empty one is not sent: local servers need none. For the vendor's own
	// server it is refused unless Headers authorise.
	Key string
	// Headers are added to each request; a name that is there twice wins over the wire's own.
	Headers map[string]string
	// HTTPClient is used for the requests, without following redirects; nil means a client of its own.
	// Models that share a client share its connections.
	HTTPClient *http.Client
	// IdleTimeout is how long the server may send nothing, comments and pings counted; 0 means 120 s.
	IdleTimeout time.Duration
	// MaxTokens bounds an answer where the request does not; 0 leaves it to the server, where the wire allows that.
	MaxTokens int
}

// Vendor is whom a wire is made for.
type Vendor struct {
	// Name and URL are the provider's name and the base URL where the options give none.
	Name, URL string
	// KeyVariable is the environment variable that has the vendor's key. KeyHeader is the header that carries the key,
	// behind KeyScheme. OtherKeyHeader is a header that the options may set in its place.
	KeyVariable, KeyHeader, KeyScheme, OtherKeyHeader string
	// Form says what a base URL looks like, such as "without /v1".
	Form string
	// Header is what each request carries besides the headers that all wires send.
	Header http.Header
	// Resets reads from the vendor's own headers how long to wait after a rate limit; nil where the vendor has none.
	Resets func(header http.Header, now time.Time) time.Duration
}

// Endpoint is the server behind a model. An Endpoint does not change.
type Endpoint struct {
	Upstream
	// Base is the base URL, without a slash at its end.
	Base string
	// Own reports whether this is the vendor's own server.
	Own    bool
	Client *http.Client
	// Header is what each request carries.
	Header http.Header
	broken *model.Error // why no request can be sent, if so
}

// Endpoint returns the endpoint that the options name. Where the options are wrong, each Stream of the endpoint fails
// with what is wrong.
func (v Vendor) Endpoint(o Options) Endpoint {
	provider := cmp.Or(o.Name, v.Name)
	e := Endpoint{Base: strings.TrimRight(cmp.Or(o.BaseURL, v.URL), "/"), Client: newClient(o.HTTPClient)}
	e.Own = e.Base == v.URL
	e.Header = v.header(&o)
	e.Upstream = Upstream{
		name: provider + "/" + o.Model, secrets: secrets(o.Key, o.Headers), idle: o.IdleTimeout,
		keyHint: keyHint(provider, v.Name, v.KeyVariable), resets: v.Resets,
		urlHint: "base_url of [providers." + provider + "] is the server's address" + v.Form,
	}
	if err := checkBase(e.Base); err != nil {
		e.broken = e.refuse(model.ErrInvalid, err.Error(), err)
		e.broken.Hint = e.urlHint
	} else if o.Key == "" && e.Own && !authorises(o.Headers, v.KeyHeader, v.OtherKeyHeader) {
		e.broken = e.refuse(model.ErrAuth, "there is no key", nil)
	}
	return e
}

// Stream yields what an exchange yields, and at last the error that the exchange returns. Where again is not nil and
// reports that another exchange may do better, Stream makes another exchange; the first one has yielded nothing by
// then.
func (e *Endpoint) Stream(ctx context.Context, again func(error) bool,
	exchange func(x *Exchange, yield func(model.Event, error) bool) error,
) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if e.broken != nil {
			failure := *e.broken
			yield(nil, &failure)
			return
		}
		once := func() error {
			x := e.begin(ctx)
			defer x.end()
			if err := exchange(x, yield); err != nil {
				return x.failed(err)
			}
			return nil
		}
		err := once()
		for err != nil && again != nil && again(err) {
			err = once()
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// Finish yields the end of an answer. It gives the calls ids that no other call of the conversation has, and leaves the
// connection ready for the next request.
func (x *Exchange) Finish(done model.Done, yield func(model.Event, error) bool) {
	if len(done.Message.Calls()) > 0 {
		model.UniqueAmong(&done.Message, x.said.called)
	}
	yield(done, nil)
	x.drain()
}

// newClient returns the client that a wire sends with: base, or a new one if base is nil, that follows no
// redirect (a redirect would carry key and conversation to another host). It shares the connections of base.
func newClient(base *http.Client) *http.Client {
	if base == nil {
		base = model.NewHTTPClient()
	}
	client := *base
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// checkBase returns an error for a base URL to which nothing can be sent: that of url.Parse, or one that says what is
// missing.
func checkBase(base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return fmt.Errorf("read the base URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("the base URL %q does not begin with http:// or https:// and a host", u.Redacted())
	}
	return nil
}

// secrets returns the texts that no error may hold: the key, and header values long enough to be one.
func secrets(key string, headers map[string]string) []string {
	secrets := []string{key}
	for _, value := range headers {
		if len(value) >= 8 {
			secrets = append(secrets, strings.TrimPrefix(value, "Bearer "))
		}
	}
	return secrets
}

// authorises reports whether the headers hold an Authorization, or one of the vendor's own headers for the key.
func authorises(headers map[string]string, own ...string) bool {
	for name := range headers {
		if strings.EqualFold(name, "Authorization") ||
			slices.ContainsFunc(own, func(known string) bool { return strings.EqualFold(name, known) }) {
			return true
		}
	}
	return false
}

// header returns what each request to the vendor carries. The configured headers win.
func (v *Vendor) header(o *Options) http.Header {
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"agentls"}}
	for name, values := range v.Header {
		header[name] = values
	}
	if o.Key != "" {
		header.Set(v.KeyHeader, v.KeyScheme+o.Key)
	}
	for name, value := range o.Headers {
		header.Set(name, value)
	}
	return header
}

// At returns the address of a path below the base URL. A query of the base URL is left out.
func (e *Endpoint) At(path string) string {
	base, err := url.Parse(e.Base)
	if err != nil {
		return "" // nothing is sent: see checkBase
	}
	below := url.URL{Path: base.Path + "/" + path}
	if base.RawPath != "" {
		below.RawPath = base.RawPath + "/" + path
	}
	return base.ResolveReference(&below).String()
}

// keyHint says where the key of a provider comes from. A provider of the vendor's own name has the key in the vendor's
// variable, unless the configuration names another one; any other provider has it only where the configuration says.
func keyHint(provider, vendor, variable string) string {
	if provider != vendor {
		return "check the key of the provider " + provider + ": it is in the variable that key_env in [providers." +
			provider + "] names"
	}
	return "check the key of the provider " + provider + ": set " + variable + ", or key_env in [providers." +
		provider + "]"
}
