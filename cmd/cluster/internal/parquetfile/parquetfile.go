// Package parquetfile writes entries of a ledger as Parquet files for analysis.
package parquetfile

import (
	_ "github.com/parquet-go/parquet-go" // the writer will use it
)
