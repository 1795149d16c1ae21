package redact

import "strings"

// Flags of well-known commands whose value is a password. The same letters have other meanings elsewhere, so the command must
// precede the flag on the same line.

// commandFlags maps a short flag to the commands for which its value is a password, or user:password.
var commandFlags = map[string]struct {
	commands []string
	join     string // separator between user and password; empty if the value is only the password
}{
	"-p": {commands: []string{"docker login", "podman login", "sshpass", "az login", "oc login", "mongosh", "mongo ", "mongodump", "mongorestore", "registry login"}},
	"-a": {commands: []string{"redis-cli"}},
	"-w": {commands: []string{"ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami", "ldappasswd"}},
	"-U": {commands: []string{"smbclient", "rpcclient"}, join: "%"},
	"-A": {commands: []string{"http ", "https ", "xh "}, join: ":"},
}

// commandFlag cuts the password after a short flag at i.
func (x *scanner) commandFlag(i int) bool {
	s := x.s
	if i == 0 || i+3 >= len(s) || !space.in(s[i-1]) || s[i+2] != ' ' {
		return false
	}
	known, ok := commandFlags[s[i:i+2]]
	if !ok || !commandBefore(s, i, known.commands...) {
		return httpieFlag(s, i) && x.userPassword(valueAt(s, i+3, valueLimit), ":")
	}
	v := valueAt(s, i+3, valueLimit)
	if known.join != "" {
		return x.userPassword(v, known.join)
	}
	if v.from >= v.to || s[v.from] == '-' || harmless(s[v.from:v.to]) && placeholderStart(s, v.from, v.to) < 0 {
		return false
	}
	return x.redactValue(name{}, meaning{kindPassword, strong}, v)
}

// httpieFlag reports whether the flag at i is HTTPie's -a user:password.
func httpieFlag(s string, i int) bool {
	return s[i+1] == 'a' && commandBefore(s, i, "http ", "https ", "xh ")
}

// longUserFlags take user:password.
var longUserFlags = []string{"--user", "--proxy-user"}

// longUserFlag cuts the password of curl's --user name:password and --user=name:password.
func (x *scanner) longUserFlag(i int) bool {
	s := x.s
	for _, flag := range longUserFlags {
		end := i + len(flag)
		if strings.HasPrefix(s[i:], flag) && end+1 < len(s) && (s[end] == ' ' || s[end] == '=') && (i == 0 || (space | quote).in(s[i-1])) {
			return x.userPassword(valueAt(s, end+1, valueLimit), ":")
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
