import { number, plural } from './wording';

/** Words of permissions, modes and limits. */
export const guardWords = {
  mode: {
    label: 'Mode',
    names: { ask: 'Ask', auto: 'Auto', full: 'Full access' },
    notes: {
      ask: 'Asks before it runs commands or changes files',
      auto: 'Runs commands in a sandbox and edits the project; asks for anything beyond',
      full: 'Runs everything without asking, with no sandbox',
    },
    current: (name: string) => `Mode ${name}`,
    noSandbox: 'No sandbox works on this machine.',
    unavailable: (why: string) => `Not available: ${why}`,
    notCovered: 'What the sandbox does not cover:',
    sandbox: 'Sandbox',
    sandboxNote: (engine: string) => `In Auto, commands run in ${engine}.`,
    perProject: 'The mode is chosen beside the agent, for each project.',
    warning: {
      title: 'Turn on full access?',
      body: (project: string) =>
        `In ${project}, the agent then runs any command and changes any file your account can reach, without asking.`,
      list: [
        'Files outside the project, your keys and your passwords are within its reach.',
        'Text in a file or on a web page can mislead it.',
        'Only files in the project can be reverted.',
      ],
      stays: 'What a rule denies stays denied.',
      confirm: 'Turn on full access',
      cancel: 'Cancel',
    },
  },

  toolServers: {
    confined:
      'It runs in the sandbox, without network, unless its entry says "sandbox": false, in your config or the project’s.',
    noSandbox: 'No sandbox works on this machine, so it runs with all your rights.',
  },

  limits: {
    title: 'Limits',
    note: 'When a limit is reached, the turn pauses and asks. Empty means no limit.',
    fields: {
      sessionCost: 'Cost of a session, in dollars',
      dayCost: 'Cost of a day, in dollars',
      turnSteps: 'Steps in a turn',
      turnMinutes: 'Minutes in a turn',
    },
    none: 'No limit',
    wrong: { money: 'Enter an amount above 0, such as 5 or 2.50.', count: 'Enter a whole number above 0.' },
    reached: {
      sessionCost: (used: string) => `This session has cost ${used}. Continue?`,
      dayCost: (used: string) => `Today’s sessions have cost ${used}. Continue?`,
      turnSteps: (used: string) => `This turn has taken ${used}. Continue?`,
      turnMinutes: (used: string) => `This turn has run for ${used}. Continue?`,
    },
    other: 'A limit was reached. Continue?',
    yours: (value: string) => `Your limit is ${value}.`,
    steps: (count: number) => plural(count, { one: '# step', other: '# steps' }),
    minutes: (count: number) => plural(count, { one: '# minute', other: '# minutes' }),
    once: 'Continue once',
    raise: (value: string) => `Raise to ${value}`,
    stop: 'Stop',
  },

  permission: {
    /** What is asked for, by the name of the permission. */
    titles: {
      bash: 'Run this command?',
      edit: 'Edit this file?',
      read: 'Read this file?',
      list: 'List this folder?',
      webfetch: 'Fetch this address?',
      external_directory: 'Access files outside the project?',
      set_aside: 'Keep protected files?',
      doom_loop: 'Repeat the same call again?',
    } as Readonly<Record<string, string>>,
    title: (permission: string) => `Allow ${permission}?`,
    /** One plain command, by its program. */
    run: (program: string) => `Run ${program}?`,
    fetch: (host: string) => `Fetch from ${host}?`,
    /** The sandbox stopped the command. */
    again: {
      network: 'Run again with network access?',
      read: 'Run again with access to this file?',
      sandbox_write: 'Run again with access outside the project?',
      no_sandbox: 'Run again without the sandbox?',
      several: 'Run again with more access?',
    } as Readonly<Record<string, string>>,
    create: 'Create file?',
    createAll: (files: number) => plural(files, { one: 'Create # file?', other: 'Create # files?' }),
    editAll: (files: number) => plural(files, { one: 'Edit # file?', other: 'Edit # files?' }),
    /** One line of what a call needs. */
    needs: {
      bash: 'Run',
      edit: 'Edit',
      read: 'Read',
      list: 'List',
      webfetch: 'Fetch',
      external_directory: 'Outside the project',
      network: 'Network access',
      no_sandbox: 'No sandbox',
      sandbox_write: 'Write outside the project',
      set_aside: 'Created',
    } as Readonly<Record<string, string>>,
    needsTitle: 'Needs',
    deny: 'Deny',
    denyWithReason: 'Deny with reason',
    once: 'Allow once',
    session: 'Allow for session',
    always: 'Always allow',
    alwaysAdds: 'Always allow adds',
    never: 'Can’t be always allowed.',
    what: 'What would happen',
    said: (words: string) => `The agent says: ${words}`,
    position: (at: number, of: number) => `${number(at)} of ${number(of)}`,
    dangers: 'Warning',
    stopped: 'Stopped by the sandbox',
    fromStart: 'If you allow it, the command runs again from the start.',
    uncovered: 'Can’t be reverted',
    aside: 'The command has finished. These files are renamed until you decide.',
    /** A call on its card, while its request is open. */
    waiting: 'Waiting for you',
    showAll: (count: number) => `Show all ${number(count)}`,
    showOne: 'One at a time',
    allTitle: (count: number) => plural(count, { one: '# call needs your permission', other: '# calls need your permission' }),
    allowAll: (count: number) => `Allow all ${number(count)}`,
    denyAll: (count: number) => `Deny all ${number(count)}`,
    facts: {
      command: 'Command',
      url: 'Address',
      file: 'File',
      path: 'Path',
      outside: 'Outside the project',
      patterns: 'For',
      input: 'Input',
      server: 'MCP server',
      tool: 'Tool',
    },
    fromTask: (task: string) => `Asked by the task “${task}”`,
    changes: 'What would change',
    reason: 'Tell the agent why',
    /** In the empty field, which is narrow. */
    reasonShort: 'Reason',
    fromChild: 'Asked by a task of this session',
  },
};
