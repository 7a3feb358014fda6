import RotateCw from 'lucide-solid/icons/rotate-cw';
import { en } from '../i18n/en';
import { clock } from '../kit/format';
import type { PartProps } from './registry';

export function RetryPart(props: PartProps<'retry'>) {
  const reason = () => {
    const { error } = props.part;
    if (error.name === 'APIError') return en.part.retryReason(error.data.statusCode, error.data.message);
    return 'message' in error.data ? String(error.data.message) : error.name;
  };
  return (
    <p class="meta-line retry-line" title={clock(props.part.time.created)}>
      <RotateCw size={13} aria-hidden="true" />
      <span>{en.part.retry(props.part.attempt)}</span>
      <span class="retry-reason">{reason()}</span>
    </p>
  );
}
