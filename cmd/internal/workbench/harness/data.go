package harness

import (
	"path/filepath"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/filesystem"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/kg"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/memorybank"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/sql"
)

// openMemoryBank uses a directory below the state directory unless MCP_MB_ROOT names one.
func openMemoryBank(env Environment) (domain.Domain, error) {
	config, err := memorybank.ConfigFromEnv(env.Getenv)
	if err != nil {
		return domain.Domain{}, err
	}
	if config.Root == "" {
		config.Root, config.Create = filepath.Join(env.State, "memory-bank"), true
	}
	return opened(memorybank.New(config))
}

// openKG keeps the graph below the state directory unless MCP_KG_FILE names a file.
func openKG(env Environment) (domain.Domain, error) {
	config, err := kg.ConfigFromEnv(env.Getenv)
	if err != nil {
		return domain.Domain{}, err
	}
	if config.File == "" {
		config.File = filepath.Join(env.State, "kg", "triples.db")
	}
	return opened(kg.New(config))
}

// openFilesystem uses a directory below the state directory unless MCP_FS_ROOT names one.
func openFilesystem(env Environment) (domain.Domain, error) {
	config, err := filesystem.ConfigFromEnv(env.Getenv)
	if err != nil {
		return domain.Domain{}, err
	}
	if config.Root == "" {
		config.Root, config.Create = filepath.Join(env.State, "files"), true
	}
	return opened(filesystem.New(config))
}

// openSQL uses a SQLite file below the state directory unless MCP_SQL_URL names a database.
func openSQL(env Environment) (domain.Domain, error) {
	config, err := sql.ConfigFromEnv(env.Getenv)
	if err != nil {
		return domain.Domain{}, err
	}
	if config.URL == "" {
		config.URL = "sqlite:" + filepath.Join(env.State, "sql", "data.db")
	}
	return opened(sql.New(config))
}
