/** Asks before a prompt that makes the revert of more than one turn final. */
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { visible } from '../text/visible';
import { useApp } from '../store/context';
import { SmallDialog } from './SmallDialog';

export function MakeFinalDialog() {
  const app = useApp();
  const close = (place: { answer: (yes: boolean) => void }, yes: boolean) => {
    place.answer(yes);
    app.dismiss('make-final');
  };
  return (
    <SmallDialog name="make-final" title={en.edit.makeFinal.title}>
      {(place) => (
        <div class="dialog-form">
          <p class="dialog-text">{visible(place.message)}</p>
          <div class="dialog-actions">
            <Button data-first onClick={() => close(place, false)}>
              {en.edit.cancel}
            </Button>
            <Button tone="danger" data-testid="make-final" onClick={() => close(place, true)}>
              {en.edit.makeFinal.go}
            </Button>
          </div>
        </div>
      )}
    </SmallDialog>
  );
}
