package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// chatTerminal is what a conversation needs of a terminal. Its methods may be called from one goroutine.
type chatTerminal interface {
	// say shows a text above the line that the user types, for good.
	say(text string)
	// show replaces what changes between the two: what is under way.
	show(s showing)
	// typed are the user's lines and signals; it is closed when the terminal is gone.
	typed() <-chan entry
	// size is that of the terminal, in columns and rows.
	size() (width, height int)
	// close gives the terminal back as it was.
	close() error
}

// entry is what the user did.
type entry struct {
	kind entryKind
	text string // of a line
}

type entryKind int

const (
	// entered is a line.
	entered entryKind = iota
	// stopped is ctrl-c where there is nothing to clear.
	stopped
	// left is ctrl-d on an empty line.
	left
)

// showing is what changes above the line, and how the line looks.
type showing struct {
	live []string // above the line, none wider than the terminal
	sign string   // in front of what is typed
	hint string   // in the place of what is typed, as long as that is nothing
	// passing says that what is typed is not to be had again with the arrow keys.
	passing bool
}

// completion is a text that can stand in the place of a part of what was typed.
type completion struct {
	// from and to are the part, in bytes; text is what replaces it, and about says what that is, in one line.
	from, to int
	text     string
	about    string
}

// completer finds what could be meant at a place of a text, in bytes.
type completer func(ctx context.Context, text string, at int) []completion

// screenTerminal is the terminal of this process.
type screenTerminal struct {
	program *tea.Program
	entries chan entry
	drawn   chan struct{} // closed once the library has drawn for the first time
	ended   chan struct{}
	err     error        // of the program; read it behind ended
	shape   atomic.Int64 // columns and rows
}

// openScreen takes the terminal over. past are the lines that were entered before; complete finds what could be meant
// at a place of a text, and is called on the library's goroutine.
func openScreen(ctx context.Context, out screen, past []string, complete completer) *screenTerminal {
	t := &screenTerminal{
		entries: make(chan entry, 64), drawn: make(chan struct{}), ended: make(chan struct{}),
	}
	width, height := out.size()
	t.reshape(width, height)
	m := &screenModel{
		terminal: t, ctx: ctx, complete: complete, line: typedLine{past: past}, width: width, height: height,
		paint: painter(out.color), showing: showing{sign: "> "},
	}
	shown := &frames{os.Stdout, sync.OnceFunc(func() { close(t.drawn) })}
	t.program = tea.NewProgram(m, tea.WithContext(context.WithoutCancel(ctx)), tea.WithoutSignalHandler(),
		tea.WithInput(os.Stdin), tea.WithOutput(shown))
	go func() {
		defer close(t.ended)
		_, t.err = t.program.Run()
		close(t.entries)
	}()
	return t
}

// frames are what the library writes, which knows the rows that it has drawn from its first frame on: what is to be
// printed above them waits for that.
type frames struct {
	*os.File
	first func()
}

func (f *frames) Write(text []byte) (int, error) {
	n, err := f.File.Write(text)
	if bytes.ContainsRune(text, '>') { // the sign of the line; what is asked of the terminal before has none
		f.first()
	}
	return n, err
}

func (t *screenTerminal) reshape(width, height int) {
	t.shape.Store(int64(max(width, 8))<<32 | int64(max(height, 4)))
}

func (t *screenTerminal) size() (width, height int) {
	shape := t.shape.Load()
	return int(shape >> 32), int(shape & 0xffffffff)
}

func (t *screenTerminal) typed() <-chan entry { return t.entries }

func (t *screenTerminal) show(s showing) { t.program.Send(s) }

// say breaks the text itself, and prints it line by line: the library takes a text apart neither where characters are
// wide nor where it is higher than the terminal.
func (t *screenTerminal) say(text string) {
	select {
	case <-t.drawn:
	case <-t.ended:
		return
	}
	width, _ := t.size()
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")
		for row := range strings.SplitSeq(ansi.Wrap(line, width, ""), "\n") {
			if row == "" {
				row = ansi.EraseLineRight // nothing would not be printed
			}
			t.program.Send(tea.Println(row)())
		}
	}
}

func (t *screenTerminal) close() error {
	t.program.Send(goneMsg{})
	<-t.ended
	if t.err != nil {
		return fmt.Errorf("give the terminal back: %w; if it looks odd, type `reset`", t.err)
	}
	return nil
}

// goneMsg ends the program.
type goneMsg struct{}

// screenModel is what is on the terminal below what was said. It belongs to the library's goroutine.
type screenModel struct {
	terminal *screenTerminal
	ctx      context.Context
	complete completer
	paint    func(sgr, text string) string

	line          typedLine
	width, height int
	showing
	// menu are the completions that are shown, chosen which of them stands in the line, less than 0 for none.
	menu   []completion
	chosen int
	gone   bool
}

// maxMenu is how many completions are shown at once.
const maxMenu = 8

func (m *screenModel) Init() tea.Cmd { return nil }

// Update takes a message of the terminal or of the conversation.
func (m *screenModel) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(message.Width, 8), max(message.Height, 4)
		m.terminal.reshape(message.Width, message.Height)
	case showing:
		m.showing = message
	case goneMsg:
		m.gone = true
		return m, tea.Quit
	case tea.PasteMsg:
		m.menu = nil
		m.line.insert(message.Content)
	case tea.KeyPressMsg:
		return m, m.press(message)
	}
	return m, nil
}

// press carries out a key.
func (m *screenModel) press(key tea.KeyPressMsg) tea.Cmd {
	name := key.Keystroke()
	switch {
	case name == "tab" && len(m.menu) > 0:
		m.choose(m.chosen + 1)
		return nil
	case name == "shift+tab" && len(m.menu) > 0:
		m.choose(max(m.chosen, 0) - 1)
		return nil
	case name == "tab":
		// What is typed meanwhile waits, as in every shell: Enter is to send what Tab has completed.
		m.offer(m.complete(m.ctx, m.line.text(), m.line.offset()))
		return nil
	}
	m.menu = nil
	switch {
	case name == "enter":
		if text := m.line.enter(!m.passing); strings.TrimSpace(text) != "" {
			m.send(entry{entered, text})
		}
	case name == "ctrl+c" && m.line.empty():
		m.send(entry{kind: stopped})
	case name == "ctrl+c":
		m.line.clear()
	case name == "ctrl+d" && m.line.empty():
		m.send(entry{kind: left})
	case name == "ctrl+l":
		return tea.ClearScreen
	case name == "ctrl+z":
		return tea.Suspend
	case key.Text != "" && key.Mod&^tea.ModShift == 0:
		m.line.insert(key.Text)
	default:
		m.line.press(name)
	}
	return nil
}

// send hands over what the user did. Nobody types faster than the conversation reads.
func (m *screenModel) send(e entry) {
	select {
	case m.terminal.entries <- e:
	default:
	}
}

// offer puts the only completion into the line, or what all begin with, and shows them.
func (m *screenModel) offer(list []completion) {
	if len(list) == 0 {
		return
	}
	first := list[0]
	common := first.text
	for _, c := range list[1:] {
		for c.from == first.from && c.to == first.to && !strings.HasPrefix(c.text, common) {
			_, size := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-size]
		}
	}
	written := m.line.text()[first.from:first.to]
	if len(list) == 1 || len(common) > len(written) && strings.EqualFold(common[:len(written)], written) {
		m.line.replace(first.from, first.to, common)
	} else {
		common = written
	}
	if len(list) > 1 {
		m.menu, m.chosen = list, -1
		for i := range m.menu {
			m.menu[i].to = m.menu[i].from + len(common)
		}
	}
}

// choose puts one of the completions into the line.
func (m *screenModel) choose(n int) {
	n = (n + len(m.menu)) % len(m.menu)
	c := m.menu[n]
	to := c.to
	if m.chosen >= 0 {
		to = m.menu[m.chosen].from + len(m.menu[m.chosen].text)
	}
	m.line.replace(c.from, to, c.text)
	m.chosen = n
}

// View draws what changes, the line, and the completions.
func (m *screenModel) View() tea.View {
	if m.gone {
		return tea.NewView("")
	}
	rows, x, y := m.line.layOut(m.sign, m.width)
	if m.line.empty() && m.hint != "" {
		x = ansi.StringWidth(m.sign)
		rows = []string{m.sign + m.paint(dim, fit(m.hint, m.width-x-1))}
	}
	if most := max(1, m.height/2); len(rows) > most { // the part with the cursor
		first := min(max(0, y-most+1), len(rows)-most)
		rows, y = rows[first:first+most], y-first
	}
	menu := m.menuRows()
	live := m.live
	if most := max(0, m.height-len(rows)-len(menu)-1); len(live) > most {
		live = live[len(live)-most:]
	}
	all := append(append(append([]string(nil), live...), rows...), menu...)
	v := tea.NewView(strings.Join(all, "\n"))
	v.Cursor = tea.NewCursor(min(x, m.width-1), len(live)+y)
	v.Cursor.Blink = false
	return v
}

// menuRows are the completions, those around the chosen one.
func (m *screenModel) menuRows() []string {
	most := max(1, min(maxMenu, m.height/3))
	first := min(max(0, m.chosen-most+1), max(0, len(m.menu)-most))
	var rows []string
	for i, c := range m.menu[first:min(len(m.menu), first+most)] {
		text := "  " + oneLine(c.text)
		if c.about != "" {
			text += "  " + oneLine(c.about)
		}
		if text = fit(text, m.width-1); first+i == m.chosen {
			text = m.paint(bold, text)
		} else {
			text = m.paint(dim, text)
		}
		rows = append(rows, text)
	}
	if rest := len(m.menu) - first - len(rows); rest > 0 {
		rows = append(rows, m.paint(dim, fit(fmt.Sprintf("  … and %d more", rest), m.width-1)))
	}
	return rows
}
