package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// row is one figure of the table that `make bench` prints: what was measured, on how much, what the same run measured
// beside it, and the budget that it has to hold.
type row struct {
	work string
	// size is how much the work had to do with, in things; 0 for work that has no size.
	size   int
	things string
	figure float64
	unit   string
	// floor is what the cheapest way to the same end took, in the same unit, and beside is its name; "" for none.
	floor  float64
	beside string
	// budget is the most that may be measured; 0 for none. Of a ratio, it bounds figure ÷ floor.
	budget float64
	ratio  bool
}

// over is figure ÷ floor; 0 where there is no floor.
func (r row) over() float64 {
	if r.beside == "" || r.floor <= 0 {
		return 0
	}
	return r.figure / r.floor
}

// held tells how the budget was met, in a word.
func (r row) held() string {
	measured := r.figure
	if r.ratio {
		measured = r.over()
	}
	switch {
	case r.budget == 0:
		return ""
	case measured <= r.budget:
		return "held"
	}
	return "missed"
}

// cells are the row as the table shows it.
func (r row) cells() []string {
	size, beside, over, budget := "", "", "", ""
	if r.size > 0 {
		size = fmt.Sprintf("%d %s", r.size, r.things)
	}
	if r.beside != "" {
		beside, over = fmt.Sprintf("%s %s", r.beside, figure(r.floor)), figure(r.over())
	}
	if r.budget > 0 {
		budget = figure(r.budget)
		if r.ratio {
			budget += " ×"
		}
	}
	return []string{r.work, size, figure(r.figure) + " " + r.unit, beside, over, budget, r.held()}
}

// heads are the columns of cells.
var heads = []string{"work", "size", "measured", "beside", "ratio", "budget", ""}

// figure writes a number with as many places as it is worth.
func figure(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// rows are what the benchmarks of this run have measured, in the order in which they came.
var rows struct {
	sync.Mutex
	list []row
}

// record keeps a row for the table, and reports it as a metric of its benchmark.
func record(b *testing.B, r row) {
	b.Helper()
	b.ReportMetric(r.figure, r.unit+"/"+strings.ReplaceAll(r.work, " ", "-"))
	rows.Lock()
	defer rows.Unlock()
	rows.list = slices.DeleteFunc(rows.list, func(o row) bool { return o.work == r.work && o.size == r.size })
	rows.list = append(rows.list, r)
}

// docVariable names the folder that gets the table and the plots as documents; without it they are only printed.
const docVariable = "AGENTLS_BENCH_DOC"

// reporting runs the tests, and prints the table behind them.
type reporting struct{ m *testing.M }

func (r reporting) Run() int {
	code := r.m.Run()
	if len(rows.list) == 0 {
		return code
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\n"+strings.Join(heads, "\t"))
	for _, r := range rows.list {
		fmt.Fprintln(w, strings.Join(r.cells(), "\t"))
	}
	err := w.Flush()
	if dir := os.Getenv(docVariable); err == nil && dir != "" && code == 0 {
		err = document(dir, rows.list)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "the table of the benchmarks cannot be written: %v\n", err)
		return max(code, 1)
	}
	return code
}

// document writes the table into speed.md, and beside it a plot of each work that was measured at several sizes.
func document(dir string, list []row) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Speed\n\nWritten by `make bench`: medians, on %d cores of %s/%s. A ratio is the measured figure "+
		"over what stands\nbeside it, which the same run measured. A budget with × bounds the ratio. [floors.md](floors.md) says where\nthe "+
		"rest of what is missed goes.\n\n",
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	table := append([][]string{heads, slices.Repeat([]string{"---"}, len(heads))}, nil...)
	for _, r := range list {
		table = append(table, r.cells())
	}
	for _, line := range table {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(line, " | "))
	}
	for work, grown := range growths(list) {
		name := strings.NewReplacer(" ", "-", ",", "").Replace(work) + ".svg"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(plot(grown)), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n![%s](%s)\n", work, name)
	}
	return os.WriteFile(filepath.Join(dir, "speed.md"), []byte(b.String()), 0o644)
}

// growths yields the rows of each work that was measured at three sizes or more.
func growths(list []row) func(yield func(string, []row) bool) {
	return func(yield func(string, []row) bool) {
		seen := map[string]bool{}
		for _, r := range list {
			grown := slices.DeleteFunc(slices.Clone(list), func(o row) bool { return o.work != r.work })
			if seen[r.work] || len(grown) < 3 {
				continue
			}
			seen[r.work] = true
			slices.SortFunc(grown, func(x, y row) int { return cmp.Compare(x.size, y.size) })
			if !yield(r.work, grown) {
				return
			}
		}
	}
}

// The plot, in pixels: the frame lies within the margins.
const (
	plotWidth, plotHeight   = 560.0, 300.0
	plotLeft, plotRight     = 70.0, 150.0
	plotTop, plotBottom     = 34.0, 46.0
	plotInside, plotUpright = plotWidth - plotLeft - plotRight, plotHeight - plotTop - plotBottom
)

// plot draws a growth as SVG, both axes logarithmic, so that a straight line at 45 degrees is linear growth.
func plot(grown []row) string {
	first, last := grown[0], grown[len(grown)-1]
	low, high := math.Inf(1), math.Inf(-1)
	reach := func(values ...float64) {
		for _, v := range values {
			if v > 0 {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	for _, r := range grown {
		reach(r.figure, r.floor)
	}
	low, high = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))
	along := func(v, from, to float64) float64 { return math.Log(v/from) / math.Log(to/from) }
	x := func(size int) float64 {
		return plotLeft + plotInside*along(float64(size), float64(first.size), float64(last.size))
	}
	y := func(v float64) float64 { return plotTop + plotUpright*(1-along(v, low, high)) }

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" font-family="sans-serif" font-size="12">`+
		"\n"+`<rect width="100%%" height="100%%" fill="#fff"/>`+"\n"+
		`<text x="%g" y="20" font-size="14">%s, %s</text>`+"\n",
		plotWidth, plotHeight, plotLeft, first.work, first.unit)
	for v := low; v <= high*1.001; v *= 10 {
		fmt.Fprintf(&b, `<path d="M%g %.1fh%g" stroke="#ddd"/><text x="%g" y="%.1f" text-anchor="end">%g</text>`+"\n",
			plotLeft, y(v), plotInside, plotLeft-6, y(v)+4, v)
	}
	for _, r := range grown {
		fmt.Fprintf(&b, `<text x="%.1f" y="%g" text-anchor="middle">%d</text>`+"\n",
			x(r.size), plotHeight-plotBottom+18, r.size)
	}
	fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="middle">%s</text>`+"\n", plotLeft+plotInside/2, plotHeight-10,
		first.things)
	label := math.Inf(1) // where the last one stands
	line := func(name, color string, value func(row) float64) {
		var points []string
		end := 0.0
		for _, r := range grown {
			if v := value(r); v > 0 {
				points, end = append(points, fmt.Sprintf("%.1f,%.1f", x(r.size), y(v))), y(v)
			}
		}
		if len(points) == 0 {
			return
		}
		if end += 4; math.Abs(end-label) < 13 {
			end = label + 13
		}
		label = end
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+
			`<text x="%g" y="%.1f" fill="%[2]s">%[5]s</text>`+"\n",
			strings.Join(points, " "), color, plotLeft+plotInside+8, label, name)
	}
	line("agentls", "#06c", func(r row) float64 { return r.figure })
	line(last.beside, "#888", func(r row) float64 { return r.floor })
	b.WriteString("</svg>\n")
	return b.String()
}
