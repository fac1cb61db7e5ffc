package main

// goEvents writes agentcore/event/events_gen.go: the bodies of the events and what they are made of.
func goEvents(m *Model, t *Table) ([]byte, error) {
	g := &goPackage{model: m, table: t, name: "event", own: eventTypes(m)}
	g.printf("%spackage event\n\nimport \"encoding/json\"\n\n", generatedHeader)
	g.enumerations()
	isEvent := map[string]bool{}
	for _, s := range m.Events() {
		isEvent[s.Name] = true
	}
	g.structuresOf(func(name string) bool { return isEvent[name] })
	for _, s := range m.Events() {
		g.printf("// EventType returns %q.\n", s.Name)
		g.printf("func (%s) EventType() string { return %q }\n\n", s.Name, s.Name)
	}
	g.printf("// decodeBody returns nil for a type that it does not know.\n")
	g.printf("func decodeBody(eventType string, raw json.RawMessage) (Body, error) {\n\tswitch eventType {\n")
	for _, s := range m.Events() {
		g.printf("\tcase %q:\n\t\treturn decodeAs[%s](raw)\n", s.Name, s.Name)
	}
	g.printf("\t}\n\treturn nil, nil\n}\n")
	return g.source()
}
