// Package memorybank is the memory-bank domain of the harness: it lists, reads, searches and writes a directory of notes.
//
// Symbolic links are neither listed nor followed. A name outside of the directory gets the same answer as a name that
// does not exist, so that a client cannot probe for files there.
package memorybank

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/filesystem"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/texts"
	"github.com/candor-mcp/candor/codes/common"
	memorybankcode "github.com/candor-mcp/candor/codes/memorybank"
)

// Name is the name of the domain in the catalogue.
const Name = "memory-bank"

// bank is a memory bank.
type bank struct {
	folder *folder.Lazy
	writes []domain.Method
}

// Open returns the domain. MCP_MB_ROOT names an existing directory; the default is one below the state directory, which the first call
// creates. MCP_MB_WRITE_GLOBS lists the patterns of the files that may be written: by default all of the default directory, and none of
// another.
func Open(env domain.Environment) (domain.Domain, error) {
	v := domain.Variables{Getenv: env.Getenv, Private: env.Private}
	b := &bank{folder: &folder.Lazy{Path: v.Folder("MCP_MB_ROOT"), Private: env.Private}}
	globs := v.List("MCP_MB_WRITE_GLOBS")
	if b.folder.Path == "" {
		b.folder.Path, b.folder.Create = filepath.Join(env.State, "memory-bank"), true
		if globs == nil {
			globs = []string{"**"}
		}
	}
	b.writes = filesystem.Writing(b.folder, &v, "MCP_MB_WRITE_GLOBS", globs, "mb", "file")
	return domain.Domain{
		Name:    Name,
		About:   "List, read, search and write a folder of notes.",
		Methods: b.methods(),
		Health:  b.health,
		Close:   b.folder.Close,
		Read:    b.give,
	}, v.Err
}

func (b *bank) health(context.Context) domain.Health {
	if err := b.folder.Check(); err != nil {
		return domain.Health{Details: "the folder of the memory bank cannot be used; set MCP_MB_ROOT to an existing folder"}
	}
	return domain.Health{OK: true}
}

func (b *bank) methods() []domain.Method {
	read := []candor.Code{memorybankcode.Read}
	cursor := `"cursor":{"type":"string","maxLength":4200,"description":"nextCursor of the previous answer"}`
	limit := fmt.Sprintf(`"limit":{"type":"integer","minimum":1,"maximum":%d,"description":"most results, 100 by default"}`, texts.MaxResults)
	return append([]domain.Method{
		{
			Name: "mb/list", About: "List the files of the memory bank in the order of their names.",
			Input: `{` + cursor + `,` + limit + `}`,
			Codes: read, ReadOnly: true, Idempotent: true, Run: domain.Bind(b.list),
		},
		{
			Name: "mb/read", About: "Read one file of the memory bank, as text.",
			Input:    `{"file":{"type":"string","description":"name as listed by mb/list"}}`,
			Required: []string{"file"},
			Codes:    append(read, memorybankcode.FileNotFound), ReadOnly: true, Idempotent: true, Run: domain.Bind(b.read),
		},
		{
			Name: "mb/search", About: "Find the lines that contain a text, ignoring case.",
			Input: fmt.Sprintf(`{"q":{"type":"string","minLength":1,"description":"text to find, at most %d characters"},`, texts.MaxQuery) +
				cursor + `,` + limit + `}`,
			Required: []string{"q"},
			Codes:    append(read, common.InputTooLarge), ReadOnly: true, Idempotent: true, Run: domain.Bind(b.search),
		},
	}, b.writes...)
}

// open returns the directory of the bank.
func (b *bank) open() (*folder.Folder, error) {
	f, err := b.folder.Get()
	if err != nil {
		return nil, domain.Fail(memorybankcode.Read, "the folder of the memory bank cannot be opened", err)
	}
	return f, nil
}
