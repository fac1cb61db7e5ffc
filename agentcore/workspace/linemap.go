package workspace

// LineMap translates line numbers of one text to another.
type LineMap struct{ hunks []LineHunk }

// MapLines compares two texts line by line.
func MapLines(from, to string) LineMap {
	if from == to {
		return LineMap{}
	}
	return LineMap{Diff(from, to)}
}

// To returns where a line (0-based) of the first text stands in the second. For a line that is not in the second text,
// same is false, and to is the first of the lines in its place, or else the line behind that place.
func (m LineMap) To(line int) (to int, same bool) {
	shift := 0
	for _, h := range m.hunks {
		switch {
		case line < h.Start:
			return line + shift, true
		case line < h.End:
			return h.NewStart, false
		}
		shift = h.NewEnd - h.End
	}
	return line + shift, true
}
