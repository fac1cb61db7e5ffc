package workspace

import (
	"os"
	"strings"
	"testing"
)

func TestClashes(t *testing.T) {
	m := newMoves(t, map[string]string{"README.md": "r\n", "src/a": "a\n", "Makefile": "m\n"})
	layer := m.session.Fork()
	create := func(name string) error {
		_, err := layer.Write(m.at(name), "x\n", "", Author{})
		return err
	}
	write(t, layer, m.at("new.go"), "n\n", "")
	write(t, layer, m.at("lib/x"), "x\n", "")
	for _, name := range []string{"New.go", "lib/X", "Lib/y", "NEW.GO"} {
		if err := create(name); kind(err) != Exists || !strings.Contains(err.Error(), "letter case") {
			t.Errorf("%s beside a new file: %v", name, err)
		}
	}
	for _, name := range []string{"lib/y", "new.go2"} {
		if err := create(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// This disk tells them apart.
	if err := create("readme.md"); err != nil {
		t.Error(err)
	}
	// Once the first is gone there is no clash.
	if err := layer.Delete(m.at("new.go"), StampOf("n\n"), Author{}); err != nil {
		t.Fatal(err)
	}
	if err := create("New.go"); err != nil {
		t.Error(err)
	}
	m.move(layer, "New.go", "NEW.go")
	m.move(layer, "Makefile", "makefile")
	m.shows(layer, map[string]string{"NEW.go": "x\n", "New.go": "-", "makefile": "m\n", "Makefile": "-"})
	if err := layer.Move(m.at("src"), m.at("LIB"), "", Author{}); kind(err) != Exists {
		t.Errorf("got %v", err)
	}

	// A hard link stands for a disk that takes both names for one file.
	m = newMoves(t, map[string]string{"README.md": "r\n", "o": "o\n"})
	layer = m.session.Fork()
	if err := os.Link(m.at("README.md"), m.at("Readme.md")); err != nil {
		t.Fatal(err)
	}
	if err := layer.Delete(m.at("Readme.md"), StampOf("r\n"), Author{}); err != nil {
		t.Fatal(err)
	}
	if err := create("Readme.md"); kind(err) != Exists || !strings.Contains(err.Error(), "README.md") {
		t.Errorf("got %v", err)
	}
	m.move(layer, "README.md", "readme.md")
	if err := layer.Move(m.at("o"), m.at("Readme.md"), StampOf("o\n"), Author{}); err != nil {
		t.Errorf("the other name is free: %v", err)
	}
}
