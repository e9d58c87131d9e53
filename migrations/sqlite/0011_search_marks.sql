-- Search texts are filled like other columns, by decoding the rows of kinds that do not have them all.
update kind_state set decoded_as = ''
where not exists (select 1 from mirror_meta as m where m.key = 'search.' || kind_state.kind and m.value = 'ready');
--> statement-breakpoint
delete from mirror_meta where key like 'search.%';
