// Prints the protocol's own JSON Schemas by version. They are not published as files: the conformance suite carries them inside
// its bundle, as object literals, and a table that names them.
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';

const bundle = readFileSync(process.argv[2], 'utf8');

const table = bundle.match(/\{"2025-03-26":[\w$]+,"2025-06-18":[\w$]+,"2025-11-25":([\w$]+),\[([\w$]+)\]:([\w$]+)\}/);
if (!table) {
    throw new Error('the bundle has no table of schemas any more');
}
const [, stable, newest, latest] = table;
const version = find(newest, /`([^`]*)`/y)[1];
const schemas = { '2025-11-25': literal(stable), [version]: literal(latest) };
process.stdout.write(JSON.stringify(schemas) + '\n');

// find matches what is assigned to a name; the pattern is sticky, so it matches there or nowhere.
function find(name, pattern) {
    for (let at = 0; (at = bundle.indexOf(`${name}=`, at)) >= 0; at++) {
        if (/[\w$]/.test(bundle[at - 1])) continue;
        pattern.lastIndex = at + name.length + 1;
        const found = pattern.exec(bundle);
        if (found) return found;
    }
    throw new Error(`the bundle assigns nothing of the kind to ${name}`);
}

// literal evaluates the object that is assigned to a name. It holds nothing but data, so an empty context is enough.
function literal(name) {
    const from = find(name, /\{\$schema:/y).index;
    let depth = 0;
    for (let at = from; at < bundle.length; at++) {
        const c = bundle[at];
        if (c === '`' || c === '"' || c === "'") {
            at = closing(at);
        } else if (c === '{') {
            depth++;
        } else if (c === '}' && --depth === 0) {
            return runInNewContext(`(${bundle.slice(from, at + 1)})`);
        }
    }
    throw new Error(`the schema ${name} does not end`);
}

function closing(at) {
    const quote = bundle[at];
    for (at++; bundle[at] !== quote; at++) {
        if (bundle[at] === '\\') at++;
    }
    return at;
}
