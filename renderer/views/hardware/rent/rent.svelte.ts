// The state of Rent or buy: which card and which offer, what was changed by hand, the use; kept between visits.

import type { AppState } from '../../../app/state.svelte.ts';
import type { Device, Offer } from '../../../../engine/hardware/catalogue/catalogue.ts';
import { electricityOf } from '../../../../engine/hardware/bill.ts';
import { ownHours, useOf, type Use } from '../../../../engine/hardware/use.ts';
import { electricityKey, type Electricity } from '../../../../engine/settings/electricity.ts';
import { trusted } from '../../../../engine/hardware/catalogue/figures.ts';
import { HardwareCatalogue } from '../catalogue.svelte.ts';
import { usd } from '../money.ts';
import { answerOf, assumptions, plain, sliders, wordsOf, type RentInputs } from './rent.ts';

const plainOffer = 'aws-p3-2xlarge';
const key = 'hardware.rent';

interface Kept {
  readonly card: string;
  readonly offer: string;
  readonly own: Partial<RentInputs>;
}

const nothing: Kept = { card: '', offer: plainOffer, own: {} };

export class RentPage {
  readonly catalogue: HardwareCatalogue;
  use: Use | null = $state.raw(null);
  kept: Kept = $state.raw(nothing);
  electricity: Electricity = $state.raw(electricityOf(null));
  readonly #app: AppState;

  constructor(app: AppState) {
    this.#app = app;
    this.catalogue = new HardwareCatalogue(app.service);
  }

  async load(): Promise<void> {
    const [kept, bills, electricity] = await Promise.all([
      this.#app.preferences.read(key, isKept, nothing),
      this.#app.service.bills(),
      this.#app.service.getSetting({ key: electricityKey }),
      this.catalogue.load(),
    ]);
    this.electricity = electricityOf(electricity);
    this.kept = kept;
    this.use = useOf(bills, Date.now());
  }

  readonly cards: readonly Device[] = $derived.by(() =>
    this.catalogue.value.devices.filter((device) => device.kind === 'gpu' && priceOf(device) !== null),
  );
  readonly offers: readonly Offer[] = $derived.by(() =>
    this.catalogue.value.offers.filter(({ onDemand }) => onDemand.value > 0),
  );
  /** What the choice of card and offer, the use and the catalogue say. */
  readonly usual: RentInputs = $derived.by(() => {
    const { value } = this.catalogue;
    const card = this.cards.find(({ id }) => id === this.kept.card);
    const offer = this.offers.find(({ id }) => id === this.kept.offer);
    const small = value.devices.find(({ id }) => id === 'rtx-5060-ti-16gb');
    return {
      // An instance is let whole: whoever needs one card of eight pays for eight.
      onDemand: offer?.onDemand.value ?? plain.rent,
      spot: offer?.spot?.value ?? 0,
      spotLasts: 10,
      card: card ? (priceOf(card) ?? plain.card) : plain.card,
      host: 0,
      resale: 0,
      smallCard: (small && priceOf(small)) ?? 450,
      ownShare: 0.7,
      watts: card?.power?.value ?? 350,
      tariff: this.electricity.tariff,
      hoursPerWeek: ownHours(this.use),
    };
  });
  readonly inputs: RentInputs = $derived.by(() => ({ ...this.usual, ...this.kept.own }));
  readonly answer = $derived.by(() => answerOf(this.inputs));
  readonly words = $derived.by(() => wordsOf(this.inputs, this.answer));
  readonly assumptions = $derived.by(() => {
    const offer = this.offers.find(({ id }) => id === this.kept.offer);
    const same = offer?.device ? this.#cheapest(offer.device) : undefined;
    const other = this.#cheapest('rtx-4090');
    const rents = [same, other].flatMap((found) => {
      if (!found) return [];
      const rent = found.onDemand.value;
      return rent < this.inputs.onDemand ? [{ label: `a rented ${found.deviceName}, ${usd(rent)}`, rent }] : [];
    });
    return assumptions(this.inputs, rents);
  });

  set(name: keyof RentInputs, value: number): void {
    const own = { ...this.kept.own };
    if (value === this.usual[name]) delete own[name];
    else own[name] = value;
    this.#keep({ ...this.kept, own });
  }

  chooseCard(card: string): void {
    const { card: _price, watts: _watts, ...own } = this.kept.own;
    this.#keep({ ...this.kept, card, own });
  }

  chooseOffer(offer: string): void {
    const { onDemand: _onDemand, spot: _spot, ...own } = this.kept.own;
    this.#keep({ ...this.kept, offer, own });
  }

  reset(): void {
    this.#keep(nothing);
  }

  get changed(): boolean {
    return this.kept.card !== '' || this.kept.offer !== plainOffer || Object.keys(this.kept.own).length > 0;
  }

  /** The least rent of a device, of figures that advice may rest on. */
  #cheapest(device: string): Offer | undefined {
    return this.offers
      .filter((offer) => offer.device === device && trusted(offer.onDemand))
      .toSorted((a, b) => a.onDemand.value - b.onDemand.value)[0];
  }

  #keep(kept: Kept): void {
    this.kept = kept;
    this.#app.preferences.write(key, kept);
  }
}

/** USD of a card, in shops or at launch; null where it is unknown, remembered or in dispute. */
export function priceOf({ streetPrice, launchPrice }: Device): number | null {
  return [streetPrice, launchPrice].find(trusted)?.value ?? null;
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== 'object' || value === null) return false;
  const { card, offer, own } = value as Partial<Kept>;
  return (
    typeof card === 'string' &&
    typeof offer === 'string' &&
    typeof own === 'object' &&
    own !== null &&
    Object.entries(own).every(([name, number]) => {
      const spec = sliders.find((slider) => slider.key === name);
      return spec !== undefined && typeof number === 'number' && number >= spec.minimum && number <= spec.maximum;
    })
  );
}
