package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/permission"
)

const (
	// searchCount is how many results websearch shows if the call does not say it, searchCountMax the most that it
	// shows: as many as all engines give in one answer.
	searchCount    = 8
	searchCountMax = 20
	// searchExcerpt bounds the excerpt of a result, in characters.
	searchExcerpt = 400
)

type websearchArguments struct {
	Query string `json:"query" alias:"q,search_query,search_term"`
	Count int    `json:"count,omitempty" jsonschema:"default 8" minimum:"1" alias:"num_results,max_results,limit"`
}

func websearchTool() Tool {
	return New(Definition[websearchArguments, Web]{
		Name:        "websearch",
		Description: "Search the web; read what it finds with webfetch.",
		Effect:      Fetches,
		Access:      func(websearchArguments) Access { return Access{Network: true} },
		Needs:       Engine,
		Example:     websearchArguments{Query: "go os.Root symlink escapes", Count: 8},
		Title:       func(a websearchArguments) string { return "search the web for " + a.Query },
		Run:         websearch,
	})
}

func websearch(ctx context.Context, host Web, a websearchArguments) (Result, error) {
	engine, ok := host.SearchEngine()
	switch {
	case !ok:
		return Result{},
			errors.New("no search engine is configured; the user sets websearch.kind in the configuration of agentls")
	case strings.TrimSpace(a.Query) == "":
		return Result{}, errors.New("the query is empty; say what to look for")
	case carriesSecret(host, a.Query):
		return Result{},
			errors.New("the query carries a secret, or the place of one, which is not sent anywhere; leave it out")
	}
	found, err := engine.search(ctx, a.Query, min(cmp.Or(a.Count, searchCount), searchCountMax))
	if err != nil {
		return Result{}, err
	}
	if len(found) == 0 {
		return Result{Text: "Nothing was found; try fewer or other words.", Summary: "nothing"}, nil
	}
	var b strings.Builder
	for i, r := range found {
		fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, oneLine(r.title, titleLimit*2), permission.Visible(r.address))
		if text := strings.TrimSpace(oneLine(r.excerpt, searchExcerpt)); text != "" {
			fmt.Fprintf(&b, "   %s\n", text)
		}
		if date := oneLine(r.date, 40); date != "" {
			fmt.Fprintf(&b, "   (%s)\n", date)
		}
	}
	return Result{Text: byOthers("", b.String()), Summary: count(len(found), "result", "results")}, nil
}

// oneLine is a result's text without markup, line breaks and invisible characters.
func oneLine(text string, limit int) string {
	return clip(strings.Join(strings.Fields(disclosed(text)), " "), limit)
}
