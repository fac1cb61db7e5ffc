package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/permission"
)

const (
	// searchTime is how long a search may take, searchBytes how much an engine may answer.
	searchTime  = 30 * time.Second
	searchBytes = 4 << 20
)

// SearchEngine is the search engine that websearch asks.
type SearchEngine struct {
	// Kind is searxng, brave or tavily.
	Kind string
	// BaseURL is where it answers, without a slash at the end; empty for the vendor's own.
	BaseURL string
	// Key is sent to it and nowhere else; empty for none.
	Key string
	// Client sends the requests; redirects are not followed.
	Client *http.Client
}

// searched is one result.
type searched struct {
	title, address, excerpt, date string
}

// search asks for at most count results.
func (e SearchEngine) search(ctx context.Context, query string, count int) ([]searched, error) {
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	request, read, err := e.request(ctx, query, count)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "agentls (an assistant for programmers)")
	client := *e.Client
	client.Jar = nil
	// the key must not be sent to another host
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := client.Do(request)
	if err != nil {
		if outer.Err() != nil {
			return nil, outer.Err()
		}
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // the error without the query
		}
		return nil, fmt.Errorf("the search engine %s could not be asked: %w; go on without it, and tell the user",
			e.Kind, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, searchBytes+1))
	switch {
	case outer.Err() != nil:
		return nil, outer.Err()
	case response.StatusCode != http.StatusOK:
		return nil, e.failure(response)
	case err != nil:
		return nil, fmt.Errorf("the answer of the search engine %s broke off: %w; try again", e.Kind, err)
	case len(body) > searchBytes:
		return nil, fmt.Errorf("the search engine %s answers more than %d bytes; ask for fewer results",
			e.Kind, searchBytes)
	}
	all, err := read(body)
	if err != nil {
		return nil,
			fmt.Errorf(
				"the search engine %s does not answer as it should: %w; the user sees to websearch in the "+
					"configuration of agentls", e.Kind, err)
	}
	var list []searched
	for _, r := range all {
		if u, err := url.Parse(r.address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
			u.User != nil {
			continue
		}
		if list = append(list, r); len(list) == count {
			break
		}
	}
	return list, nil
}

// request returns the request that the engine wants, and the function that reads the engine's answer.
func (e SearchEngine) request(ctx context.Context, query string,
	count int,
) (*http.Request, func([]byte) ([]searched, error), error) {
	get := func(base, path string, values url.Values) (*http.Request, error) {
		if e.BaseURL != "" {
			base = e.BaseURL
		}
		return http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+path+"?"+values.Encode(),
			nil)
	}
	switch e.Kind {
	case "searxng":
		request, err := get("", "/search", url.Values{"q": {query}, "format": {"json"}})
		if err == nil && e.Key != "" {
			request.Header.Set("Authorization", "Bearer "+e.Key)
		}
		return request, readResults, err
	case "brave":
		request, err := get("https://api.search.brave.com", "/res/v1/web/search",
			url.Values{"q": {query}, "count": {strconv.Itoa(count)}})
		if err == nil {
			request.Header.Set("X-Subscription-Token", e.Key)
		}
		return request, readBrave, err
	case "tavily":
		base := "https://api.tavily.com"
		if e.BaseURL != "" {
			base = strings.TrimRight(e.BaseURL, "/")
		}
		body, err := json.Marshal(struct {
			Query      string `json:"query"`
			MaxResults int    `json:"max_results"`
		}{query, count})
		if err != nil {
			return nil, nil, err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/search", bytes.NewReader(body))
		if err == nil {
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Authorization", "Bearer "+e.Key)
		}
		return request, readResults, err
	}
	return nil, nil,
		fmt.Errorf("the search engine %q is not known; the user sets websearch.kind to searxng, brave or tavily",
			e.Kind)
}

// failure says why an engine gave no results. It does not repeat the engine's words, which may be anything.
func (e SearchEngine) failure(response *http.Response) error {
	what := fmt.Sprintf("the search engine %s answers %d %s", e.Kind, response.StatusCode,
		http.StatusText(response.StatusCode))
	switch code := response.StatusCode; {
	case code == http.StatusTooManyRequests:
		if wait := response.Header.Get("Retry-After"); wait != "" {
			what += ", and wants to be left alone until " + permission.Visible(wait) + " (seconds, or a date)"
		}
		return errors.New(what + "; go on with what you have")
	case code == http.StatusForbidden && e.Kind == "searxng":
		return errors.New(what + "; the user adds json to search.formats in the settings of SearXNG")
	case code == http.StatusUnauthorized || code == http.StatusForbidden ||
		code == http.StatusPaymentRequired || code == 432:
		return errors.New(what + "; the user sees to the key that websearch.key_env names")
	case code >= 300 && code < 400:
		return errors.New(what +
			", a redirect, which is not followed; the user sets websearch.base_url to where it leads")
	case code == http.StatusNotFound:
		return errors.New(what + "; the user sees to websearch.base_url")
	}
	return errors.New(what + "; try again later, or go on without it")
}

// readResults reads an answer of SearXNG in the format json (docs.searxng.org, "Search API"), or an answer of Tavily's
// Search endpoint (docs.tavily.com, "Tavily Search"), which has another name for the date.
func readResults(body []byte) ([]searched, error) {
	var answer struct {
		Results []struct {
			URL           string `json:"url"`
			Title         string `json:"title"`
			Content       string `json:"content"`
			PublishedDate string `json:"publishedDate"`
			Published     string `json:"published_date"`
		} `json:"results"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	var list []searched
	for _, r := range answer.Results {
		list = append(list, searched{r.Title, r.URL, r.Content, cmp.Or(r.PublishedDate, r.Published)})
	}
	return list, nil
}

// tag is markup in an excerpt.
var tag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`</?[a-zA-Z][^<>]{0,200}>`) })

// readBrave reads an answer of the Web Search API (api-dashboard.search.brave.com, "Web search": response objects). The
// words of the query are marked up in it.
func readBrave(body []byte) ([]searched, error) {
	var answer struct {
		Web struct {
			Results []struct {
				URL         string `json:"url"`
				Title       string `json:"title"`
				Description string `json:"description"`
				Age         string `json:"age"`
			} `json:"results"`
		} `json:"web"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	plain := func(text string) string { return html.UnescapeString(tag().ReplaceAllString(text, "")) }
	var list []searched
	for _, r := range answer.Web.Results {
		list = append(list, searched{plain(r.Title), r.URL, plain(r.Description), r.Age})
	}
	return list, nil
}
