package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/price"
	"github.com/agentls/agentls/agentcore/store"
)

// usageReport is the output of `agentls usage --json`.
type usageReport struct {
	By store.UsageKey `json:"by"`
	// Rows are the groups, the most expensive first; days in order.
	Rows  []usageRow `json:"rows"`
	Total usageRow   `json:"total"`
}

// usageRow is the sum of a group of runs. Usage has no cost if the cost of any of its runs is unknown; KnownCost is the
// known part.
type usageRow struct {
	Key        string      `json:"key"`
	Runs       int         `json:"runs"`
	Ended      int         `json:"ended"`
	Completed  int         `json:"completed"`
	Turns      int         `json:"turns"`
	DurationMs int64       `json:"durationMs"`
	Usage      event.Usage `json:"usage"`
	KnownCost  float64     `json:"knownCost"`
	Unpriced   int         `json:"unpriced"`
}

func rowOf(r store.UsageRow) usageRow {
	return usageRow{
		r.Key, r.Runs, r.Ended, r.Completed, r.Turns, r.Duration.Milliseconds(), r.Usage,
		r.KnownCost, r.Unpriced,
	}
}

func usageCommand(p *process, s *settings) *cobra.Command {
	var by, session string
	var days int
	var asJSON bool
	var keys []string
	for _, key := range store.UsageKeys() {
		keys = append(keys, string(key))
	}
	c := &cobra.Command{
		Use:   "usage",
		Short: "Sum up tokens, cost, time and outcomes of all runs",
		Long: `Sum up the stored runs by agent, model, session, project, day or run. Each request to a model is counted once; only
--by run adds to a run what its subagents used. Where the price of a model is unknown, the cost is, too: set
[prices."provider/model"] in config.toml.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			if !slices.Contains(keys, by) {
				return usage("usage cannot be summed up by %q%s", by,
					cmp.Or(didYouMean(by, keys), "; write --by "+strings.Join(keys, ", ")))
			}
			if days < 0 {
				return usage("--days is %d; write a number of days, or 0 for all", days)
			}
			filter := store.UsageFilter{By: store.UsageKey(by), Session: event.SessionID(session)}
			if days > 0 {
				filter.Since = time.Now().AddDate(0, 0, -days)
			}
			return p.withEngine(c.Context(), s, "", func(engine *agentcore.Engine) error {
				sums, err := engine.History().Usage(c.Context(), filter)
				if fault.Is(err, fault.NotFound) {
					return usage("there is no session %q; see `agentls usage --by session`", session)
				}
				if err != nil {
					return err
				}
				if !asJSON {
					return p.print(usageTable(filter.By, sums))
				}
				report := usageReport{By: filter.By, Rows: []usageRow{}, Total: rowOf(sums.Total)}
				for _, r := range sums.Rows {
					report.Rows = append(report.Rows, rowOf(r))
				}
				return p.printJSON(report)
			})
		},
	}
	c.Flags().StringVar(&by, "by", string(store.UsageByAgent), "what to sum up by: "+strings.Join(keys, ", "))
	c.Flags().StringVar(&session, "session", "", "only the session with this `id`")
	c.Flags().IntVar(&days, "days", 0, "only runs of the last `n` days")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// usageTable shows the sums to people.
func usageTable(by store.UsageKey, sums store.UsageReport) string {
	if len(sums.Rows) == 0 {
		return "Nothing has run yet.\n"
	}
	var b bytes.Buffer
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(key string, r store.UsageRow) {
		completed := "–"
		if r.Ended > 0 {
			completed = fmt.Sprintf("%d %%", r.Completed*100/r.Ended)
		}
		cost := price.Dollars(r.KnownCost)
		if r.Usage.Cost == nil {
			cost = "unknown"
			if r.KnownCost > 0 {
				cost = "over " + price.Dollars(r.KnownCost)
			}
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t  %s\n", r.Runs, completed, thousands(int64(r.Turns)),
			duration(r.Duration),
			thousands(r.Usage.InputTokens), thousands(r.Usage.CachedTokens), thousands(r.Usage.OutputTokens),
			cost, oneLine(key))
	}
	fmt.Fprintf(table, "runs\tcompleted\tturns\ttime\tinput\tcached\toutput\tcost\t  %s\n", by)
	for _, r := range sums.Rows {
		row(r.Key, r)
	}
	if len(sums.Rows) > 1 {
		row("all", sums.Total)
	}
	table.Flush() // cannot fail, since it writes to a bytes.Buffer
	if n := sums.Total.Unpriced; n > 0 {
		fmt.Fprintf(&b, "\nThe price of %s is not known; set [prices.\"provider/model\"] in config.toml.\n",
			count(n, "run"))
	}
	return b.String()
}
