package permission

import (
	"net"
	"strings"
	"sync"
)

// documentation are hosts that serve the documentation of languages, libraries and tools: first those of languages,
// then of frameworks, data and tools, systems and standards. The authors of pages there cannot see who reads which
// address, so that nothing leaks to strangers. For other hosts the user is asked.
const documentation = `
	go.dev pkg.go.dev docs.python.org peps.python.org doc.rust-lang.org docs.rs developer.mozilla.org tc39.es
	www.typescriptlang.org nodejs.org docs.deno.com bun.sh docs.oracle.com openjdk.org kotlinlang.org
	docs.scala-lang.org learn.microsoft.com en.cppreference.com isocpp.org gcc.gnu.org clang.llvm.org llvm.org
	docs.swift.org developer.apple.com docs.ruby-lang.org www.php.net perldoc.perl.org www.lua.org hexdocs.pm
	www.erlang.org hackage.haskell.org docs.julialang.org ziglang.org dart.dev ocaml.org clojure.org
	cran.r-project.org react.dev nextjs.org vuejs.org angular.dev svelte.dev vite.dev tailwindcss.com
	docs.djangoproject.com flask.palletsprojects.com fastapi.tiangolo.com docs.pydantic.dev docs.pytest.org
	numpy.org pandas.pydata.org docs.scipy.org scikit-learn.org pytorch.org docs.pytorch.org www.tensorflow.org
	guides.rubyonrails.org api.rubyonrails.org docs.spring.io laravel.com symfony.com flutter.dev api.flutter.dev
	developer.android.com docs.qt.io docs.gtk.org www.postgresql.org dev.mysql.com mariadb.com www.sqlite.org
	sqlite.org redis.io www.mongodb.com www.elastic.co kubernetes.io docs.docker.com helm.sh prometheus.io
	opentelemetry.io docs.ansible.com developer.hashicorp.com nginx.org httpd.apache.org docs.aws.amazon.com
	cloud.google.com docs.github.com docs.gitlab.com git-scm.com cmake.org mesonbuild.com bazel.build
	docs.gradle.org maven.apache.org docs.npmjs.com pip.pypa.io packaging.python.org docs.astral.sh eslint.org
	neovim.io code.visualstudio.com microsoft.github.io man7.org www.kernel.org docs.kernel.org www.gnu.org
	man.freebsd.org man.openbsd.org pubs.opengroup.org www.w3.org html.spec.whatwg.org fetch.spec.whatwg.org
	url.spec.whatwg.org www.rfc-editor.org datatracker.ietf.org www.unicode.org protobuf.dev grpc.io graphql.org
	json-schema.org spec.openapis.org yaml.org toml.io spec.commonmark.org
`

var documented = sync.OnceValue(func() map[string]bool {
	hosts := map[string]bool{}
	for host := range strings.FieldsSeq(documentation) {
		hosts[net.JoinHostPort(host, "443")] = true
	}
	return hosts
})
