// Package chaos tests a fleet while its machines fail: three real nats-server processes are killed, stopped, cut off from each other and
// restarted while processes append to the store. Its tests check that no acknowledged entry is lost or stored twice, that every chain is
// complete, and that concurrent appends to one chain are linearizable.
//
// The normal tests run one short round. The flag -rounds runs more, and -soak lengthens the soak test; `make fleet-chaos` and `make soak` use them.
package chaos
