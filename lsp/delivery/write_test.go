package delivery

import "testing"

// TestBlindEdits: when an edit without a version is sent, so that none is made twice.
func TestBlindEdits(t *testing.T) {
	t.Parallel()
	var b blind
	if within := b.waits("\none"); within != gathers {
		t.Errorf("the first edit waits %v for what the user types, not %v", within, gathers)
	}
	if within := b.waits("\none"); within != 0 {
		t.Errorf("it waits %v more", within)
	}
	b.sent("\none", false)
	if within := b.waits("\none"); within != gathers {
		t.Errorf("an edit that was refused waits %v, not %v", within, gathers)
	}
	b.sent("\none", true)
	for range 2 {
		if within := b.waits("\n\none"); within <= gathers || within > echoTime {
			t.Errorf("an edit that was made, and not told of yet, is made again after %v", within)
		}
	}
	if within := b.waits("two"); within != gathers {
		t.Errorf("another edit waits %v, not %v", within, gathers)
	}
}
