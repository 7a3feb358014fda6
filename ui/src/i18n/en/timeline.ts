import { plural } from './wording';

/** The words of the timeline and the composer that are not in the older files. */
export const timelineWords = {
  call: {
    questions: (count: number) => plural(count, { one: 'Question', other: '# questions' }),
    noAnswer: 'No answer',
  },
  turn: {
    copy: 'Copy turn',
    copyLink: 'Copy link',
  },
  link: {
    go: (session: string) => `Go to the place in “${session}”`,
  },
  outline: {
    open: 'Outline',
    search: 'Search prompts',
    prompts: 'Prompts',
    none: (words: string) => `No prompt matches “${words}”`,
    foot: 'Enter goes to the prompt',
    untitled: 'Attachments only',
  },
  history: {
    title: 'Prompt history',
    search: 'Search prompt history',
    recent: 'Recent prompts',
    empty: 'No prompts yet',
    none: (words: string) => `No prompt matches “${words}”`,
    foot: 'Enter inserts the prompt',
  },
  shell: {
    hint: 'Enter runs this command yourself',
  },
  queue: {
    up: 'Move up',
    sendNow: 'Send now',
    sendNowHint: 'Stops the running turn and sends this prompt',
  },
  provider: {
    title: 'Custom providers',
    note: 'A server of your own, or any other that speaks one of these APIs.',
    add: 'Add provider',
    edit: 'Edit',
    remove: 'Remove',
    editOne: (name: string) => `Edit ${name}`,
    removeOne: (name: string) => `Remove ${name}`,
    name: 'Name',
    namePlaceholder: 'My lab',
    url: 'Base URL',
    urlPlaceholder: 'https://models.example/v1',
    api: 'API',
    apis: {
      'openai-chat': 'OpenAI Chat Completions',
      'openai-responses': 'OpenAI Responses',
      anthropic: 'Anthropic Messages',
      gemini: 'Google Gemini',
    },
    key: 'API key',
    noKey: 'Empty if it needs none',
    sameKey: 'Empty keeps the saved key',
    list: 'List models',
    test: 'Test',
    models: 'Models to offer',
    ownModel: 'Model ID',
    addModel: 'Add',
    missing: 'Enter a name and a base URL',
    answers: (models: number) => plural(models, { one: 'Connected, # model', other: 'Connected, # models' }),
    cancel: 'Cancel',
    save: 'Save',
  },
  diagram: {
    label: 'Diagram',
    source: 'Show source',
  },
};
