#!/usr/bin/env python3
"""Recompute what candor workbench dual computed, without Candor: python3 check.py FILE...

A file is an export (candor workbench dual export), or the data of an answer of merkle_root or consensus_finality.
docs/dual.md explains the formats. The signature below an export's proof needs a key: candor ledger check-proof.
"""
import hashlib
import json
import sys


def canonical(value):
    """RFC 8785, for texts, integers, lists and objects with ASCII names."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest(value):
    return hashlib.sha256(canonical(value)).hexdigest()


def leaf(hash_hex):
    return hashlib.sha256(b"\x00" + bytes.fromhex(hash_hex)).digest()


def node(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def root(leaves):
    """The tree of RFC 6962: the left part is the largest power of two below the number of leaves."""
    if len(leaves) == 1:
        return leaves[0]
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return node(root(leaves[:half]), root(leaves[half:]))


def root_of_proof(at, index, size, hashes):
    """RFC 9162, 2.1.3.2: the root that a leaf and its proof give."""
    last = size - 1
    for other in hashes:
        if index & 1 or index == last:
            at = node(other, at)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            at = node(at, other)
        index, last = index >> 1, last >> 1
    return at if last == 0 else None


def expect(is_so, what):
    if not is_so:
        raise SystemExit("FAILED: " + what)


def check_record(record):
    fields = {name: value for name, value in record.items() if name != "hash"}
    expect(digest(fields) == record["hash"], "record %s: its hash" % record["id"])


def check_thoughts(thoughts, attested):
    before = {"seq": 0, "hash": "0" * 64}
    for record in thoughts["records"]:
        check_record(record)
        expect(record["seq"] == before["seq"] + 1 and record["prev_hash"] == before["hash"], "record %s: its place" % record["id"])
        before = record
    expect(before["hash"] == attested["thought"]["hash"], "the last record is not the attested one")
    return "%d records of task %s" % (len(thoughts["records"]), thoughts["task"]["id"])


def check_session(file, attested):
    session, records = file["session"], file["records"]
    for record in records:
        check_record(record)
        expect(record["session_id"] == session["session_id"], "record %s: its session" % record["id"])
    expect(root([leaf(r["hash"]) for r in records]).hex() == session["root"], "the root of the session")
    covered = {name: session.get(name, "") for name in ("session_id", "task_id", "agent_id", "begun_at", "finalized_at", "root")}
    expect(digest(dict(covered, record_count=len(records))) == attested["session_root"]["sum"], "the session is not the attested one")
    return "session %s with %d records, root %s" % (session["session_id"], len(records), session["root"])


def check_proof(answer):
    proof, record = answer["proof"], answer["record"]
    check_record(record)
    found = root_of_proof(leaf(record["hash"]), proof["index"], proof["size"], [bytes.fromhex(h) for h in proof["hashes"]])
    expect(found is not None and found.hex() == answer["root"], "the proof of record %s" % record["id"])
    return "record %s is in the tree with root %s" % (record["id"], answer["root"])


def check_round(round_):
    fixed = ("topic", "proposal", "proposer_id", "voters", "quorum", "nonce", "created_at")
    expect(digest({name: round_[name] for name in fixed}) == round_["round_id"], "the id of the round")
    votes = [[v["voter_id"], v["choice"], v["cast_at"]] for v in round_["votes"]]
    second = [[e["voter_id"], e["first"], e["attempted"], e["at"]] for e in round_.get("equivocations", [])]
    expect(digest({"round_id": round_["round_id"], "votes": votes, "equivocations": second}) == round_["digest"], "the digest of the round")
    return "round %s with %d votes" % (round_["round_id"], len(votes))


def check(file):
    if "round_id" in file:
        return check_round(file)
    if "proof" in file:
        return check_proof(file)
    attested = json.loads(file["entry"])["data"]["attests"]
    return check_thoughts(file["thoughts"], attested) if "thoughts" in file else check_session(file["session"], attested)


for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as f:
        print("OK:", check(json.load(f)))
