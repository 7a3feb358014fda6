// What the clients' scripts share: counting, waiting, and never hanging.

export const PATIENCE = 20_000;

export function deadline(promise, what, patience = PATIENCE) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took too long`)), patience);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export function counter() {
  let passed = 0;
  let failed = 0;
  const fail = (name, why) => {
    failed += 1;
    console.log(`FAILED ${name}: ${why}`);
  };
  return {
    /** Runs an action and looks at what it answered. */
    async check(name, action, isGood = () => true) {
      try {
        const result = await deadline(Promise.resolve().then(action), name);
        if (result?.error !== undefined) throw new Error(JSON.stringify(result.error));
        const data = result && typeof result === 'object' && 'data' in result ? result.data : result;
        if (!isGood(data)) throw new Error(`unexpected ${JSON.stringify(data)?.slice(0, 300)}`);
        passed += 1;
        return data;
      } catch (error) {
        fail(name, error.message ?? String(error));
      }
    },
    end() {
      console.log(`${passed} passed, ${failed} failed`);
      process.exit(failed > 0 ? 1 : 0);
    },
  };
}
