/** The words that the records of the simulated company are made of. */

const categoryOf = (type: 'piece' | 'service') => (code: string, french: string, english: string) => ({
  code,
  french,
  english,
  type,
});
const parts = categoryOf('piece');
const service = categoryOf('service');

export const CATEGORIES = [
  parts('0010', 'Freins', 'Brakes'),
  parts('0020', 'Suspension et direction', 'Suspension and steering'),
  parts('0030', 'Échappement', 'Exhaust'),
  parts('0040', 'Filtres', 'Filters'),
  parts('0050', 'Huiles et lubrifiants', 'Oils and lubricants'),
  parts('0060', 'Batteries et démarrage', 'Batteries and starting'),
  parts('0070', 'Éclairage', 'Lighting'),
  parts('0080', 'Pneus', 'Tires'),
  parts('0090', 'Roues et moyeux', 'Wheels and hubs'),
  parts('0100', 'Refroidissement', 'Cooling'),
  parts('0110', 'Climatisation', 'Air conditioning'),
  parts('0120', 'Transmission', 'Transmission'),
  parts('CARR', 'Carrosserie', 'Body parts'),
  parts('VITR', 'Vitrage et essuie-glaces', 'Glass and wipers'),
  parts('OUTL', "Outillage d'atelier", 'Shop tools'),
  parts('QUIN', 'Quincaillerie', 'Hardware'),
  parts('PLOM', 'Plomberie', 'Plumbing'),
  parts('ELEC', 'Électricité', 'Electrical'),
  parts('SECU', 'Équipement de sécurité', 'Safety equipment'),
  service('MO', "Main-d'œuvre", 'Labour'),
  service('REMO', 'Remorquage', 'Towing'),
  service('DIAG', 'Diagnostic', 'Diagnostics'),
  service('ENTR', 'Entretien préventif', 'Preventive maintenance'),
  service('DIVE', 'Divers', 'Miscellaneous'),
];

type ItemRow = readonly [
  code: string,
  french: string,
  english: string,
  categoryCode: string,
  cents: number,
  grams: number,
];

const ITEM_ROWS: readonly ItemRow[] = [
  ['PLQ', 'Plaquettes de frein avant', 'Front brake pads', '0010', 6495, 1850],
  ['DSQ', 'Disque de frein ventilé', 'Vented brake rotor', '0010', 8950, 8200],
  ['ETR', 'Étrier remis à neuf', 'Remanufactured caliper', '0010', 11999, 4300],
  ['AMO', 'Amortisseur arrière', 'Rear shock absorber', '0020', 7425, 2600],
  ['ROT', 'Rotule inférieure', 'Lower ball joint', '0020', 4890, 900],
  ['SIL', "Silencieux d'échappement", 'Exhaust muffler', '0030', 15975, 6400],
  ['FHU', 'Filtre à huile', 'Oil filter', '0040', 899, 310],
  ['FAI', 'Filtre à air du moteur', 'Engine air filter', '0040', 2149, 420],
  ['H5W', 'Huile synthétique 5W-30, 5 L', 'Synthetic oil 5W-30, 5 L', '0050', 4399, 4450],
  ['GRA', 'Graisse au lithium', 'Lithium grease', '0050', 749, 400],
  ['BAT', 'Batterie groupe 35', 'Group 35 battery', '0060', 18995, 17300],
  ['DEM', 'Démarreur', 'Starter motor', '0060', 21450, 3900],
  ['AMP', 'Ampoule halogène H11', 'H11 halogen bulb', '0070', 1625, 60],
  ['PNH', "Pneu d'hiver 225/65R17", 'Winter tire 225/65R17', '0080', 16900, 12700],
  ['PNE', "Pneu d'été 205/55R16", 'Summer tire 205/55R16', '0080', 12450, 9100],
  ['MOY', 'Moyeu et roulement', 'Hub and bearing', '0090', 13275, 3250],
  ['THR', 'Thermostat', 'Thermostat', '0100', 2895, 220],
  ['RAD', "Radiateur d'aluminium", 'Aluminium radiator', '0100', 24990, 5400],
  ['CLM', 'Compresseur de climatisation', 'Air conditioning compressor', '0110', 38900, 6100],
  ['FTR', 'Fluide à transmission, 1 L', 'Transmission fluid, 1 L', '0120', 1299, 900],
  ['RET', 'Rétroviseur gauche chauffant', 'Heated left mirror', 'CARR', 9870, 1500],
  ['ESS', "Balai d'essuie-glace 24 po", 'Wiper blade 24 in', 'VITR', 1895, 210],
  ['CLE', 'Clé dynamométrique 1/2 po', 'Torque wrench 1/2 in', 'OUTL', 13999, 1700],
  ['BOU', 'Boulons à embase, boîte de 50', 'Flange bolts, box of 50', 'QUIN', 2260, 1300],
  ['VAL', 'Robinet à bille 3/4 po', 'Ball valve 3/4 in', 'PLOM', 1785, 380],
  ['DSJ', 'Disjoncteur 15 A', '15 A breaker', 'ELEC', 1149, 140],
  ['GAN', 'Gants de nitrile, boîte de 100', 'Nitrile gloves, box of 100', 'SECU', 2495, 650],
  ['MOA', "Main-d'œuvre atelier, l'heure", 'Shop labour, per hour', 'MO', 11500, 0],
  ['REM', 'Remorquage local', 'Local towing', 'REMO', 9500, 0],
  ['DIA', 'Diagnostic électronique', 'Electronic diagnosis', 'DIAG', 8900, 0],
  ['VID', "Vidange d'huile complète", 'Full oil change', 'ENTR', 7995, 0],
];

export const ITEMS = ITEM_ROWS.map(([code, french, english, category, cents, grams]) => ({
  code,
  french,
  english,
  category,
  cents,
  grams,
}));

export type Item = (typeof ITEMS)[number];

export const SUPPLIERS = words(`
  Acier Boréal, Batteries Nordiques, Carquest Beauport, Câbles du Fleuve, Distribution Laurentides
  Équipements Chaudière, Filtration Estrie, Graphisme Véhicule Plus, Huiles Saint-Laurent, Importations Vézina
  Jantes Prestige, Kiosque Outillage, Lubrifiants Abitibi, Matériaux Côté, Nettoyage Industriel Morin
  Outils Gagné, Peinture Auto Mauricie, Pièces d'auto Ouellet, Pneus Métro, Quincaillerie Turcotte
  Radiateurs Lévis, Remorques Beauce, Silencieux Rive-Sud, Transmission Saguenay, Uniformes Élite, Vitres Dupré
`);

export const DEPARTMENTS = words(
  'Atelier mécanique, Carrosserie, Service mobile, Pièces, Remorquage, Administration',
);

export const BRANDS = words(`
  Acura, Alfa Romeo, Audi, BMW, Buick, Cadillac, Chevrolet, Chrysler, Citroën, Dodge, Fiat, Ford, Freightliner, GMC
  Hino, Honda, Hyundai, Infiniti, International, Isuzu, Jaguar, Jeep, Kenworth, Kia, Land Rover, Lexus, Lincoln, Mack
  Mazda, Mercedes-Benz, Mini, Mitsubishi, Nissan, Peterbilt, Porsche, Ram, Škoda, Subaru, Tesla, Toyota, Volkswagen
  Volvo
`);

export const JOBS = words(`
  Entretien de flotte, Réfection des freins, Installation d'attelage, Traitement antirouille, Changement de pneus
  Remise à neuf du moteur, Déneigement saisonnier, Réparation de chauffe-eau, Mise aux normes électriques
  Pose de thermopompe, Inspection mécanique, Aménagement de fourgon, Réparation de carrosserie, Dépannage routier
`);

export const TASKS = words(`
  Inspection initiale, Démontage, Commande des pièces, Remplacement, Réglage de la géométrie, Essai routier
  Visite du chantier, Installation, Nettoyage, Facturation, Rappel au client
`);

export const NOTES = words(`
  Client prévenu par téléphone, Pièce en commande, À revoir à la prochaine visite, Clés dans la boîte à dépôt
  Temps supplémentaire approuvé, Véhicule prêt, Accès par l'arrière, Dîner non déduit, Déplacement à Québec
`);

export const FREIGHT = words(`
  Palette de pneus, Moteur remis à neuf, Caisse d'outils, Transmission automatique, Pare-brise, Boîte de pièces
  Chauffe-eau 60 gal, Génératrice, Panneaux de carrosserie, Baril d'huile
`);

export const FIRST_NAMES = words(`
  Marie-Ève, Geneviève, Émilie, Chloé, Noémie, Mélanie, Stéphanie, Joëlle, Hélène, Josée, Anaïs, Florence, Maude
  Isabelle, Nathalie, Sylvie, Amélie, Zoé, Jean-François, François, Frédéric, Jérôme, Benoît, Étienne, Félix, Rémi
  Cédric, Loïc, Raphaël, Sébastien, Mathieu, Olivier, Guillaume, Marc-André, Pierre-Luc, Yves, Réjean, Gaétan, Luc
`);

export const SURNAMES = words(`
  Arsenault, Beaulieu, Bélanger, Bérubé, Bouchard, Boucher, Caron, Charbonneau, Côté, Cyr, Desjardins, Deschênes
  Dubé, Dufour, Fortin, Fournier, Gagné, Gagnon, Gauthier, Gendron, Girard, Hébert, Jalbert, Labrecque, Lachance
  Lapointe, Lavoie, Leblanc, Lefebvre, Lemieux, Lévesque, Martel, Michaud, Morin, Nadeau, Ouellet, Paquette
  Pelletier, Perreault, Poirier, Proulx, Quirion, Rioux, Roy, Savard, Simard, St-Pierre, Théberge, Thériault
  Tremblay, Turcotte, Vachon, Vaillancourt, Veilleux, Verreault
`);

/** Names of small businesses; `*` stands for the family's name. */
export const BUSINESS_NAMES = words(`
  Garage * inc., Toitures * & Fils, Plomberie * ltée, Électricité * inc., Transport *, Paysagement *
  Les Entreprises * inc., Excavation * et frères, Ferme * S.E.N.C., Boulangerie *, Clinique vétérinaire *
  Construction * inc., Déneigement *, Location d'outils *, Résidence *, Traiteur *, Ébénisterie *
`);

export const JOB_TITLES = words(`
  Propriétaire, Directrice générale, Contremaître, Acheteur, Adjointe administrative, Répartiteur, Comptable
  Gérant de flotte, Chargée de projet, Mécanicien en chef
`);

export const CONTACT_DEPARTMENTS = words(
  'Administration, Achats, Comptes à payer, Flotte, Opérations, Réception, Entrepôt',
);

/** `sortationArea` is the first half of the postal code. */
export const TOWNS = [
  { city: 'Québec', areaCode: '418', sortationArea: 'G1K' },
  { city: 'Lévis', areaCode: '418', sortationArea: 'G6V' },
  { city: 'Montréal', areaCode: '514', sortationArea: 'H2X' },
  { city: 'Laval', areaCode: '450', sortationArea: 'H7N' },
  { city: 'Longueuil', areaCode: '450', sortationArea: 'J4K' },
  { city: 'Gatineau', areaCode: '819', sortationArea: 'J8X' },
  { city: 'Sherbrooke', areaCode: '819', sortationArea: 'J1H' },
  { city: 'Trois-Rivières', areaCode: '819', sortationArea: 'G9A' },
  { city: 'Saguenay', areaCode: '418', sortationArea: 'G7H' },
  { city: 'Rimouski', areaCode: '418', sortationArea: 'G5L' },
  { city: 'Saint-Jérôme', areaCode: '450', sortationArea: 'J7Y' },
  { city: 'Saint-Jean-sur-Richelieu', areaCode: '450', sortationArea: 'J3B' },
  { city: 'Rivière-du-Loup', areaCode: '418', sortationArea: 'G5R' },
  { city: 'Sept-Îles', areaCode: '418', sortationArea: 'G4R' },
  { city: 'Rouyn-Noranda', areaCode: '819', sortationArea: 'J9X' },
  { city: 'Drummondville', areaCode: '819', sortationArea: 'J2B' },
  { city: 'Thetford Mines', areaCode: '418', sortationArea: 'G6G' },
  { city: 'Baie-Saint-Paul', areaCode: '418', sortationArea: 'G3Z' },
  { city: "L'Ancienne-Lorette", areaCode: '418', sortationArea: 'G2E' },
  { city: 'Saint-Félicien', areaCode: '418', sortationArea: 'G8K' },
];

export type Town = (typeof TOWNS)[number];

export const STREETS = words(`
  rue Saint-Jean, chemin Sainte-Foy, boulevard Laurier, rue de l'Église, rang Saint-Édouard, avenue du Pont
  boulevard Charest Est, rue Principale, chemin du Moulin, route 138, rue des Érables, montée Masson, 3e Avenue
  boulevard Pie-IX, rue Notre-Dame Ouest, chemin des Patriotes, rue King Est, boulevard René-Lévesque, rang du Nord
  rue Père-Marquette, côte de la Montagne, avenue Cartier, rue du Marché, chemin de la Canardière
`);

export const SUITES = words('app. 2, app. 4, bureau 210, local 3, porte B, C.P. 118, 2e étage');

/** Splits a list that is written as running text, one item after each comma or line end. */
function words(text: string): readonly string[] {
  return text.split(/[,\n]/).flatMap((item) => item.trim() || []);
}
