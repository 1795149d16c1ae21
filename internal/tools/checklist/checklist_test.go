package main

import (
	"slices"
	"strings"
	"testing"
)

// The module of these tests has one system of three statements.
const home = "bench/kay"

var systems = []system{{Letter: "K", Name: "kay", Home: home, Domains: []string{"kaiza"}, Statements: []string{"a", "b", "c"}}}

func TestStatementsAreJudgedByTheirTests(t *testing.T) {
	var in strings.Builder
	for _, line := range []string{"pass TestK1Passes", "skip TestK2SkipsAPart/part", "pass TestK2SkipsAPart", "pass TestK3smallLetter"} {
		action, name, _ := strings.Cut(line, " ")
		in.WriteString(`{"Action":"` + action + `","Package":"` + module + "/" + home + `","Test":"` + name + `"}` + "\n")
	}
	r, err := readResults(strings.NewReader(in.String()), &strings.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := statementRows(systems, r)
	var got []string
	for _, r := range rows {
		got = append(got, r.ID+" "+r.Verdict)
	}
	if want := []string{"K1 proved", "K2 BROKEN", "K3 NO TEST"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q %v, want %q", got, err, want)
	}
}

func TestThereAre74Statements(t *testing.T) {
	all, err := readSystems()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range all {
		n += len(s.Statements)
	}
	if n != 74 {
		t.Errorf("%d statements, want 74", n)
	}
}
