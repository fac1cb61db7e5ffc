package lsp

import (
	"fmt"
	"strconv"
	"time"
)

// How numbers are shown where there is little room.

func itoa(n int) string { return strconv.Itoa(n) }

// elapsed is a duration as it is read at a glance, such as "12 s" or "3 min 5 s".
func elapsed(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, s/60%60)
}

// tokens is a count with two digits that tell, such as 950, 3.1k or 1.2M.
func tokens(n int64) string {
	short := func(unit int64, suffix string) string {
		if tenths := (n*10 + unit/2) / unit; tenths < 100 {
			return fmt.Sprintf("%d.%d%s", tenths/10, tenths%10, suffix)
		}
		return fmt.Sprintf("%d%s", (n+unit/2)/unit, suffix)
	}
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 999_500:
		return short(1000, "k")
	}
	return short(1_000_000, "M")
}
