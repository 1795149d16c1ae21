package store

import (
	"context"
	"fmt"
)

// schema has the statements that migrate the database from each version to the next.
var schema = []string{`
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('id', lower(hex(randomblob(16))));
CREATE TABLE tasks (
	id TEXT PRIMARY KEY, title TEXT NOT NULL, description TEXT NOT NULL, status TEXT NOT NULL, agent_id TEXT NOT NULL,
	parent_id TEXT REFERENCES tasks(id), context TEXT, result TEXT NOT NULL, version INTEGER NOT NULL,
	created_at TEXT NOT NULL, updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX tasks_status ON tasks(status);
CREATE TABLE task_dependencies (
	task_id TEXT NOT NULL REFERENCES tasks(id), depends_on TEXT NOT NULL REFERENCES tasks(id), PRIMARY KEY (task_id, depends_on)
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
	id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, task_id TEXT REFERENCES tasks(id), agent_id TEXT NOT NULL, begun_at TEXT NOT NULL,
	finalized_at TEXT, root TEXT, records INTEGER NOT NULL, chain TEXT, seq INTEGER
) STRICT;
CREATE TABLE thoughts (
	number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, task_id TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL,
	agent_id TEXT NOT NULL, session_id TEXT NOT NULL, content TEXT NOT NULL, timestamp TEXT NOT NULL, prev_hash TEXT NOT NULL,
	hash TEXT NOT NULL, chain TEXT, anchor INTEGER
) STRICT;
CREATE INDEX thoughts_task ON thoughts(task_id);
CREATE INDEX thoughts_seq ON thoughts(task_id, seq);
CREATE INDEX thoughts_session ON thoughts(session_id);
CREATE INDEX thoughts_unanchored ON thoughts(number) WHERE chain IS NULL;
CREATE TABLE rounds (
	id TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, topic TEXT NOT NULL, proposal TEXT NOT NULL, proposer TEXT NOT NULL, quorum INTEGER NOT NULL,
	nonce TEXT NOT NULL, created_at TEXT NOT NULL, state TEXT NOT NULL, decided_at TEXT
) STRICT;
CREATE TABLE voters (round_id TEXT NOT NULL REFERENCES rounds(id), voter TEXT NOT NULL, PRIMARY KEY (round_id, voter)) STRICT, WITHOUT ROWID;
CREATE TABLE votes (
	round_id TEXT NOT NULL, voter TEXT NOT NULL, choice TEXT NOT NULL, cast_at TEXT NOT NULL,
	PRIMARY KEY (round_id, voter), FOREIGN KEY (round_id, voter) REFERENCES voters(round_id, voter)
) STRICT, WITHOUT ROWID;
CREATE TABLE equivocations (
	round_id TEXT NOT NULL, voter TEXT NOT NULL, first TEXT NOT NULL, attempted TEXT NOT NULL, at TEXT NOT NULL,
	PRIMARY KEY (round_id, voter), FOREIGN KEY (round_id, voter) REFERENCES votes(round_id, voter)
) STRICT, WITHOUT ROWID;
CREATE TABLE outcomes (
	number INTEGER PRIMARY KEY AUTOINCREMENT, agent_id TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE INDEX outcomes_agent ON outcomes(agent_id);
CREATE TABLE calls (
	number INTEGER PRIMARY KEY AUTOINCREMENT, upstream TEXT NOT NULL, tool TEXT NOT NULL, code TEXT NOT NULL, latency_us INTEGER NOT NULL,
	cost REAL NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE INDEX calls_upstream ON calls(upstream, number);
`}

// migrate migrates the database to the version of this program. It refuses a database with a later version.
func (s *Store) migrate(ctx context.Context) error {
	return s.Update(ctx, func(tx *Tx) error {
		version, err := tx.version()
		if err != nil {
			return err
		}
		if version == len(schema) {
			return nil
		}
		for _, statements := range schema[version:] {
			if _, err := tx.exec(statements); err != nil {
				return err
			}
		}
		_, err = tx.exec(fmt.Sprintf("PRAGMA user_version = %d", len(schema)))
		return err
	})
}

// version returns the version of the database, or an error if it is later than that of this program.
func (t *Tx) version() (version int, err error) {
	if err := t.row("PRAGMA user_version").Scan(&version); err != nil {
		return 0, err
	}
	if version > len(schema) {
		return 0, fmt.Errorf("version %d, want at most %d (hint: use the newer program, or another --state folder)", version, len(schema))
	}
	return version, nil
}

// checkVersion returns an error if the database does not have the version of this program.
func (t *Tx) checkVersion() error {
	version, err := t.version()
	if err == nil && version < len(schema) {
		err = fmt.Errorf("version %d, want %d (hint: start the server once, which brings it up to date)", version, len(schema))
	}
	return err
}

// ID returns the id of the database, which identifies it in the ledger; [ErrNotFound] if the id was removed.
func (t *Tx) ID() (id string, err error) {
	err = t.row("SELECT value FROM meta WHERE name = 'id'").Scan(&id)
	return id, notFound(err)
}

// Tables returns the number of rows of each table.
func (t *Tx) Tables() (map[string]int64, error) {
	counts := map[string]int64{}
	for _, table := range []string{"tasks", "sessions", "thoughts", "rounds", "votes", "equivocations", "outcomes", "calls"} {
		n, err := t.count("SELECT count(*) FROM " + table)
		if err != nil {
			return nil, err
		}
		counts[table] = n
	}
	return counts, nil
}
