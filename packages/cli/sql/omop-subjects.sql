-- One row for each individual with an index day: sex, days of birth and death, last day of observation, first day of each condition asked for.
-- {index}: one of omop-index-*.sql; {outcomes}: condition_concept_id, with commas.
with origin as (
{index}
), birth as (
{birth}
), died as (
  select cast(person_id as bigint) as person_id, min(cast(death_date as date)) as day from death group by 1
), observed as (
  select cast(person_id as bigint) as person_id, max(cast(observation_period_end_date as date)) as day
  from observation_period
  group by 1
), conditions as (
  select
    cast(person_id as bigint) as person_id,
    cast(condition_concept_id as bigint) as concept,
    min(cast(condition_start_date as date)) as day
  from condition_occurrence
  where cast(condition_concept_id as bigint) in ({outcomes})
  group by 1, 2
)
select
  origin.person_id as person_id,
  origin.index_date as index_date,
  cast(p.gender_concept_id as bigint) as gender,
  birth.index_date as birth_date,
  observed.day as last_date,
  died.day as death_date,
  conditions.concept as concept,
  conditions.day as condition_date
from origin
join person as p on cast(p.person_id as bigint) = origin.person_id
left join birth on birth.person_id = origin.person_id
left join observed on observed.person_id = origin.person_id
left join died on died.person_id = origin.person_id
left join conditions on conditions.person_id = origin.person_id
where origin.index_date is not null
