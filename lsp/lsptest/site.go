package lsptest

import (
	"mime"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"

	"golang.org/x/tools/txtar"
)

// sitePrefix begins the sections that are pages of a site on the loopback.
const sitePrefix = "site/"

// openSites serves the pages of a scenario at two addresses, which its config.toml, model.script and lines know as
// ${site} and ${other}. A page that is the line "redirect ADDRESS" leads there.
func (s *stage) openSites(archive *txtar.Archive) {
	pages := map[string][]byte{}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, sitePrefix); ok {
			pages["/"+name] = f.Data
		}
	}
	if len(pages) == 0 {
		return
	}
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if to, leads := strings.CutPrefix(strings.TrimSpace(string(page)), "redirect "); leads {
			http.Redirect(w, r, s.sited(to), http.StatusFound)
			return
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		kind := mime.TypeByExtension(path.Ext(r.URL.Path))
		if kind == "" {
			kind = "application/json"
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte(s.sited(string(page)))) // whoever asked may be gone
	})
	s.sites = map[string]string{}
	var servers []*httptest.Server
	for _, name := range []string{"site", "other"} {
		server := httptest.NewUnstartedServer(serve)
		s.t.Cleanup(server.Close)
		s.sites[name] = server.Listener.Addr().String()
		servers = append(servers, server)
	}
	for _, s := range servers {
		s.Start() // what they read does not change from here on
	}
}

// sited puts the addresses of the sites into a text.
func (s *stage) sited(text string) string {
	for name, address := range s.sites {
		text = strings.ReplaceAll(text, "${"+name+"}", address)
	}
	return text
}
