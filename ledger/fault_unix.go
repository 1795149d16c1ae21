//go:build unix

package ledger

import "syscall"

const errQuota = syscall.EDQUOT
