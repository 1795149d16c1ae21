package redact

import "strings"

// commandFlags are flags with a password as their value. The same letters have other meanings elsewhere, so one of the commands
// must precede the flag on the same line.
var commandFlags = []struct {
	flag     string
	commands []string // nil for any
	join     string   // separator between user and password; empty if the value is only the password
	glued    bool     // the value follows the flag without a blank
}{
	{flag: "-u", join: ":"}, {flag: "--user", join: ":"}, {flag: "--proxy-user", join: ":"},
	{flag: "-p", commands: []string{"docker login", "podman login", "sshpass", "az login", "oc login", "mongosh", "mongo ", "mongodump", "mongorestore", "registry login"}},
	{flag: "-p", commands: []string{"mysql", "mariadb", "sshpass"}, glued: true},
	{flag: "-a", commands: []string{"redis-cli"}},
	{flag: "-a", commands: []string{"http ", "https ", "xh "}, join: ":"},
	{flag: "-A", commands: []string{"http ", "https ", "xh "}, join: ":"},
	{flag: "-w", commands: []string{"ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami", "ldappasswd"}},
	{flag: "-U", commands: []string{"smbclient", "rpcclient"}, join: "%"},
}

// commandFlag cuts the password after a flag at i.
func (x *scanner) commandFlag(i int) bool {
	s := x.s
	if i > 0 && !(space | quote).in(s[i-1]) {
		return false
	}
	for _, f := range commandFlags {
		from := i + len(f.flag)
		if !strings.HasPrefix(s[i:], f.flag) || from == len(s) || f.commands != nil && !commandBefore(s, i, f.commands...) {
			continue
		}
		if !f.glued {
			if s[from] != ' ' && (s[from] != '=' || len(f.flag) == len("-u")) {
				continue
			}
			from++
		} else if space.in(s[from]) {
			continue
		}
		v := valueAt(s, from, valueLimit)
		if f.join != "" {
			if x.userPassword(v, f.join) {
				return true
			}
			continue
		}
		if v.from < v.to && s[v.from] != '-' && (!harmless(s[v.from:v.to]) || placeholderStart(s, v.from, v.to) >= 0) {
			return x.redactValue(name{}, meaning{kindPassword, strong}, v)
		}
	}
	return false
}

// userPassword cuts the password of a value with a user and a password. Two numbers are the ids of a user and a group.
func (x *scanner) userPassword(v value, join string) bool {
	s := x.s
	user, password, ok := strings.Cut(s[v.from:v.to], join)
	if !ok || user == "" || password == "" || strings.HasPrefix(password, "//") {
		return false
	}
	if digit.run(user, 0, all) == len(user) && digit.run(password, 0, all) == len(password) {
		return false
	}
	v.from += len(user) + len(join)
	if harmless(password) && placeholderStart(s, v.from, v.to) < 0 {
		return false
	}
	return x.redactValue(name{}, meaning{kindPassword, strong}, v)
}

// commandBefore reports whether one of the commands precedes i on the same line.
func commandBefore(s string, i int, commands ...string) bool {
	line := s[max(0, i-siblingLimit):i]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	for _, command := range commands {
		if strings.Contains(line, command) {
			return true
		}
	}
	return false
}

// identified is the first word of SQL's IDENTIFIED BY 'password'.
const identified = "identified"

// identifiedLimit bounds the text between IDENTIFIED and BY, such as WITH and the name of a plugin.
const identifiedLimit = 64

// identifiedBy cuts the password after IDENTIFIED … BY.
func (x *scanner) identifiedBy() bool {
	s := x.s
	if !foldPrefix(s[x.i:], identified) {
		return false
	}
	from := x.i + len(identified)
	by := strings.Index(strings.ToLower(s[from:min(len(s), from+identifiedLimit)]), " by ")
	if by < 0 {
		return false
	}
	v := valueAt(s, from+by+len(" by "), valueLimit)
	if !v.quoted || v.from >= v.to {
		return false
	}
	return x.redactValue(name{}, meaning{kindPassword, strong}, v)
}
