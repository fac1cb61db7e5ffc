# Functions for scripts that unpack Debian packages into a folder of their own, to be sourced by bash. Nothing is installed on the
# system and root is not needed: the packages and the libraries that they need are fetched by an apt with a configuration of its
# own, from the mirror that this machine already uses and with Debian's signatures checked (of the index, which holds the checksum
# of each package). Whoever sources this sets `program`, the name in front of what is said.

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

say() { printf '%s: %s\n' "$program" "$*" >&2; }
die() {
	say "$*"
	exit 1
}

# mirrors prints the addresses of the package archives of this machine, the one of its own release first. apt tells them
# even where no index was fetched yet, as in a fresh container.
mirrors() {
	apt-get --print-uris update 2>/dev/null |
		sed -nE "s|^'([^']*)/dists/([^/]*)/InRelease'.*|\2 \1|p" |
		awk '{ print ($1 ~ /-/), $2 }' | sort -u | awk '!seen[$2]++ { print $2 }'
}

# configure DIR MIRROR SUITE writes a private apt configuration. The settings of the machine for the way to the
# network (proxies, certificates, passwords) stay; its sources, hooks and state do not come in.
configure() {
	local dir=$1 mirror=$2 suite=$3
	mkdir -p "$dir"/{etc/apt.conf.d,etc/preferences.d,state/lists/partial,cache/archives/partial}
	: >"$dir/state/status"
	printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$mirror" "$suite" >"$dir/etc/sources.list"
	{
		apt-config dump 2>/dev/null | grep -E '^Acquire::(http|https|ForceIPv|Check-)' || true
		cat <<-CONF
			APT::Architecture "$(dpkg --print-architecture)";
			APT::Architectures { "$(dpkg --print-architecture)"; };
			APT::Sandbox::User "";
			Acquire::Retries "3";
			Acquire::Languages "none";
			Acquire::AllowInsecureRepositories "false";
			Dir::State "$dir/state";
			Dir::State::status "$dir/state/status";
			Dir::Cache "$dir/cache";
			Dir::Etc "$dir/etc";
			Dir::Etc::parts "$dir/etc/apt.conf.d";
			Dir::Etc::sourceparts "-";
			Dir::Etc::netrc "/etc/apt/auth.conf";
			Dir::Etc::netrcparts "/etc/apt/auth.conf.d";
		CONF
		# The unstable suite's index is only valid for some days, and a mirror may lag behind; its signature is checked all the same.
		if [ "$suite" = sid ]; then echo 'Acquire::Check-Valid-Until "false";'; fi
	} >"$dir/apt.conf"
}

# unpack DIR MIRROR SUITE DESTINATION PACKAGE… downloads packages and all that they need, and unpacks them.
unpack() {
	local dir=$1 mirror=$2 suite=$3 destination=$4 package
	shift 4
	configure "$dir" "$mirror" "$suite"
	# An update that only warns has used an old index or an unsigned one: any error is a failure.
	APT_CONFIG=$dir/apt.conf timeout 180 apt-get -qq -o APT::Update::Error-Mode=any update </dev/null &&
		APT_CONFIG=$dir/apt.conf timeout 600 apt-get -qq -y --no-install-recommends --download-only install "$@" patchelf </dev/null || return 1
	mkdir -p "$destination/root"
	for package in "$dir"/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -x --no-same-owner -C "$destination/root" || return 1
	done
}

# relocate STAGED HOME NAME makes an unpacked program use the libraries beside it, once it lies at HOME. It sets `binary` to its path
# below the packages' root.
relocate() {
	local staged=$1 home=$2 name=$3 root=$1/root loader libraries file
	loader=$(cd "$root" && find -L lib64 lib usr/lib -maxdepth 2 -name 'ld-linux*.so.*' 2>/dev/null | head -n 1)
	[ -n "$loader" ] || { say "no dynamic loader among the packages"; return 1; }
	libraries=$(cd "$root" && find . -name '*.so.*' -printf '%h\n' | sort -u | grep -E '^\./(usr/)?lib' | sed 's/^\.//')
	join() { sed "s|^|$1/root|" <<<"$libraries" | paste -sd : -; }
	file=$(readlink -f "$root/usr/bin/$name")
	case $file in "$(readlink -f "$root")"/*) ;; *) file= ;; esac
	# Debian may link programs by way of /etc/alternatives, which only an installation makes.
	[ -n "$file" ] && [ -f "$file" ] || file=$(find "$root/usr" -type f -path "*bin/$name*" | head -n 1)
	[ -n "$file" ] || { say "no $name among the packages"; return 1; }
	"$root/$loader" --library-path "$(join "$staged")" "$root/usr/bin/patchelf" \
		--set-interpreter "$home/root/$loader" --force-rpath --set-rpath "$(join "$home")" "$file" || return 1
	binary=${file#"$(readlink -f "$root")"}
	mkdir -p "$staged/bin"
}

# possible tells whether this machine has what an installation needs, and says what is missing.
possible() {
	local tool
	for tool in apt-get apt-config dpkg dpkg-deb gpgv; do
		command -v "$tool" >/dev/null || { say "$tool is missing"; return 1; }
	done
	[ -r "$keyring" ] || { say "$keyring is missing (Debian package debian-archive-keyring)"; return 1; }
	[ -n "$(mirrors)" ] || { say "apt has no package sources, from which a Debian mirror could be read"; return 1; }
}
