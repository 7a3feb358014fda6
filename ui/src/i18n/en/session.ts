import { list, number, plural } from './wording';

/** What is done with a session as a whole: commands, context, editing, sharing, keeping. */
export const sessionWords = {
  commands: {
    new: 'Start a new session',
    undo: 'Undo the last turn and its file changes',
    redo: 'Redo what was undone',
    fork: 'Continue in a copy of this session',
    compact: 'Compact the session to make room',
    snapshot: 'Take a named snapshot of the files',
    share: 'Share this session',
    unshare: 'Stop sharing this session',
    export: 'Export this session to a file',
    import: 'Import a session from a file',
    models: 'Choose a model',
    agents: 'Choose an agent',
    help: 'Show keyboard shortcuts',
  },

  /** What a command takes after its name. */
  commandHints: {
    new: '[prompt]',
    fork: '[prompt]',
    snapshot: '[name]',
    agents: '[agent]',
  } as Readonly<Record<string, string | undefined>>,

  share: {
    title: 'Share session',
    open: 'Open',
    looking: 'Checking for secrets…',
    becomesFile: (messages: number) =>
      plural(messages, { one: 'Save # message as an HTML page', other: 'Save # messages as an HTML page' }),
    goesTo: (messages: number, server: string) =>
      plural(messages, {
        one: `Upload # message to ${server}. Anyone with the link can read it.`,
        other: `Upload # messages to ${server}. Anyone with the link can read them.`,
      }),
    leftOut: 'Redacted',
    nothingLeftOut: 'No keys, passwords or home folder found. Check it yourself too: some secrets can’t be detected.',
    lookYourself: 'Check it yourself too: some secrets can’t be detected.',
    times: (count: number) => plural(count, { one: 'once', other: '# times' }),
    toFile: 'Save page…',
    toServer: 'Share',
    cancel: 'Cancel',
    isInFile: 'Shared as a page:',
    isOnServer: 'Shared at:',
    copyAddress: 'Copy link',
    copyPath: 'Copy path',
    aMoment: 'Later messages aren’t included.',
    again: 'Update…',
    takeBack: 'Stop sharing',
    done: 'Done',
    shared: 'Session shared',
    never: 'Session isn’t shared',
    takenBack: 'Stopped sharing',
  },

  transfer: {
    exported: 'Session exported',
    openFile: 'Open',
    openSession: 'Open',
    unreadable: (named: string, more: number) =>
      `Couldn’t read ${more === 0 ? named : list([named, `${number(more)} more`])}`,
  },

  fork: {
    menu: 'Fork',
    here: 'Fork from here',
    hereWorktree: 'Fork from here in a worktree',
    worksIn: 'Forked in a new worktree',
  },

  snapshot: {
    title: 'Take snapshot',
    name: 'Name',
    placeholder: 'Before the rewrite',
    note: 'Saves the project’s files as they are now. Restore them any time from the timeline.',
    keep: 'Take snapshot',
    cancel: 'Cancel',
    kept: (name: string) => `Took snapshot “${name}”`,
    skipped: (count: number) =>
      plural(count, { one: '# file not included, see the timeline', other: '# files not included, see the timeline' }),
  },

  context: {
    title: 'Context and cost',
    button: (said: string, cost: string) => (cost === '' ? `Context: ${said}` : `Context: ${said}. Cost: ${cost}`),
    share: (percent: string) => `${percent} used`,
    unknown: (used: string) => `${used} tokens used`,
    used: 'Used',
    of: (used: string, limit: number) => (limit === 0 ? used : `${used} of ${number(limit)}`),
    compactsAt: 'Compacts at',
    total: 'Total tokens',
    tokens: (input: string, output: string) => `${input} in, ${output} out`,
    cached: 'From cache',
    cost: 'Total cost',
    costWithTasks: 'Total cost with tasks',
    taskCost: (tasks: number) => plural(tasks, { one: '# task', other: '# tasks' }),
    free: 'free',
    notYet: 'after the next step',
    compaction: (usable: string) =>
      `Compacts automatically at ${usable} tokens. Older messages are summarized for the model; nothing is deleted.`,
    willCompact: 'Full. The next step compacts first. Nothing is deleted.',
    full: 'Full. Automatic compaction is off in the config.',
    noLimit: 'This model’s context size is unknown.',
    sumUp: 'Compact now',
    sumUpBusy: 'Not available while the session is running',
  },

  edit: {
    begin: 'Edit and resend',
    banner: 'Sending reverts this and later messages, including file changes.',
    bannerKeep: 'Sending reverts this and later messages. File changes stay.',
    keepFiles: 'Keep file changes',
    cancel: 'Cancel',
    undone: 'Reverted the last turn',
    notUndone: 'Couldn’t revert the last turn',
    partlyUndone: (files: number) =>
      plural(files, { one: 'Reverted only # file of the last turn', other: 'Reverted only # files of the last turn' }),
    conflicts: (count: number) =>
      plural(count, { one: '# file changed since and stays', other: '# files changed since and stay' }),
    redo: 'Restore',
    makeFinal: {
      title: 'Delete the reverted messages?',
      go: 'Delete and continue',
    },
    hidden: 'Later messages are hidden. Sending a prompt discards them.',
  },
};
