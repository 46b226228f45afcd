// Prints what a module exports, as JSON: a function's text, or the members of a class. For `perbyte try`.
import(require('node:url').pathToFileURL(process.argv[2]).href).then((module) => {
  const found = {};
  const add = (name, it, deep) => {
    if (typeof it === 'function' && !(name in found)) {
      const members = [];
      for (let of = it.prototype; of && of !== Object.prototype; of = Object.getPrototypeOf(of))
        members.push(...Object.getOwnPropertyNames(of));
      found[name] = members.length > 1 ? members : String(it).slice(0, 400);
    }
    if (it && deep && (typeof it === 'function' || typeof it === 'object'))
      for (const inner of Object.keys(it)) add(name ? name + '.' + inner : inner, it[inner], deep - 1);
  };
  add(module.default?.name ?? '', module.default, 2);
  if (module.default?.name) add('', module.default, 2);
  for (const name of Object.keys(module)) if (name !== 'default') add(name, module[name], 1);
  process.stdout.write(JSON.stringify(found), () => process.exit(0));
}, () => process.exit(1));
