#!/usr/bin/env node
// Runs the candor executable of the installed platform package, with the same arguments and the same standard streams. Signals
// are passed on, and the exit status is that of candor.
'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');

const name = `@candor-mcp/cli-${process.platform}-${process.arch}`;
const file = process.platform === 'win32' ? 'candor.exe' : 'candor';

let executable;
try {
  executable = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`candor-mcp: the package ${name} is not installed.
It is an optional dependency of candor-mcp: reinstall without --omit=optional (or --no-optional).
If your platform is not supported, build from source: go install github.com/candor-mcp/candor/cmd/candor@latest`);
  process.exit(1);
}

// A terminal sends SIGINT to the whole process group, so candor has it already; the handler only keeps this process alive until
// candor has ended. Other signals reach this process alone. The handlers come first, so that no signal ends this process before them.
let child;
const forwarded = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGQUIT'];
process.on('SIGINT', () => { if (!process.stdin.isTTY) child.kill('SIGINT'); });
for (const signal of forwarded) {
  try {
    process.on(signal, () => child.kill(signal));
  } catch {
    // The platform does not have this signal.
  }
}

child = spawn(executable, process.argv.slice(2), { stdio: 'inherit', windowsHide: true });

child.on('error', (err) => {
  console.error(`candor-mcp: starting ${executable}: ${err.message}`);
  process.exit(126);
});

child.on('exit', (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  // End by the same signal, so that the caller sees how candor ended.
  for (const s of [...forwarded, 'SIGINT']) process.removeAllListeners(s);
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + (constants.signals[signal] || 0)), 100);
});
