/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "stack", and "bridge" of the switch: a policy by its name, or an object with its name and its parameters,
 * which the policy itself declares (mf_param.h).
 */
#include <string.h>

#include "config/cfg_write.h"
#include "systems/mf_systems.h"

/** Wide enough for every kind. */
union value {
	uint64_t whole;
	double real;
};

static const enum cfg_kind kinds[] = {[MF_PARAM_COUNT] = CFG_U64,
				      [MF_PARAM_SIZE] = CFG_SIZE64,
				      [MF_PARAM_TIME] = CFG_TIME,
				      [MF_PARAM_REAL] = CFG_REAL};

/** The table of the object: its name, and the parameters; of values that lie one behind the other. */
static void make_fields(const struct mf_param *p, struct cfg_field *f)
{
	*f++ = (struct cfg_field){.key = "name", .kind = CFG_NESTED};
	for (size_t i = 0; p[i].key != NULL; i++)
		*f++ = (struct cfg_field){.key = p[i].key,
					  .kind = kinds[p[i].kind],
					  .offset = i * sizeof(union value),
					  .lo = p[i].kind == MF_PARAM_REAL ? 0 : (uint64_t)p[i].min,
					  .hi = p[i].kind == MF_PARAM_REAL ? 0 : (uint64_t)p[i].max,
					  .rlo = p[i].min,
					  .rhi = p[i].max};
	*f = (struct cfg_field){0};
}

static void to_values(const struct mf_param *p, const double *param, union value *v)
{
	for (size_t i = 0; p[i].key != NULL; i++)
		if (p[i].kind == MF_PARAM_REAL)
			v[i].real = param[i];
		else
			v[i].whole = (uint64_t)param[i];
}

static void from_values(const struct mf_param *p, const union value *v, double *param)
{
	for (size_t i = 0; p[i].key != NULL; i++)
		param[i] = p[i].kind == MF_PARAM_REAL ? v[i].real : (double)v[i].whole;
}

static void defaults(const struct mf_param *p, double *param)
{
	for (size_t i = 0; p[i].key != NULL; i++)
		param[i] = p[i].value;
}

/** What the stack has by the same name is the bridge's default: both speak of the same links. */
static void inherit(const struct mf_param *from, const double *value, const struct mf_param *p, double *param)
{
	for (size_t i = 0; p[i].key != NULL; i++)
		for (size_t k = 0; from[k].key != NULL; k++)
			if (strcmp(p[i].key, from[k].key) == 0 && value[k] >= p[i].min &&
			    value[k] <= p[i].max)
				param[i] = value[k];
}

/** The name: of the string, or in the object. @return 0 or -EINVAL */
static int read_name(struct cfg *c, const json_t *json, const char *const *names, const char **name)
{
	const json_t *in = json_is_object(json) ? json_object_get(json, "name") : json;
	uint32_t place = 0;
	int rc = 0;

	if (in != NULL && !json_is_string(in) && in == json)
		return cfg_fail(c, "must be a name, or an object");
	if (in != NULL && in != json)
		cfg_push(c, "name");
	if (in != NULL)
		rc = cfg_enum(c, in, names, &place);
	if (in != NULL && in != json)
		cfg_pop(c);
	if (rc == 0 && in != NULL)
		*name = names[place];
	return rc;
}

/** @param param  the defaults, and then what is set */
static int read_params(struct cfg *c, const json_t *json, const struct mf_param *params, double *param)
{
	struct cfg_field fields[MF_PARAMS_MAX + 2];
	union value v[MF_PARAMS_MAX];
	int rc;

	if (!json_is_object(json))
		return 0;
	make_fields(params, fields);
	to_values(params, param, v);
	rc = cfg_object(c, json, fields, v);
	from_values(params, v, param);
	return rc;
}

/** What of a table has other defaults. @param with  NULL: nothing */
static void override(const struct mf_param *p, const struct mf_param_default *with, double *param)
{
	for (; with != NULL && with->key != NULL; with++)
		for (size_t i = 0; p[i].key != NULL; i++)
			if (strcmp(p[i].key, with->key) == 0)
				param[i] = with->value;
}

static const struct mf_param no_params[] = {{0}};

int cfg_stack(struct cfg *c, const json_t *json)
{
	struct mf_config_policy *p = &c->config->stack;
	const struct mf_param *params;
	const char *name = MF_STACK_EDM;
	int rc = json != NULL ? read_name(c, json, mf_stack_names, &name) : 0;

	if (rc != 0)
		return rc;
	strcpy(p->name, name);
	c->config->stack_ops = mf_stack_find(name);
	params = c->config->stack_ops != NULL ? c->config->stack_ops->params : no_params;
	defaults(params, p->param);
	return read_params(c, json, params, p->param);
}

int cfg_bridge(struct cfg *c, const json_t *json)
{
	const struct mf_stack_ops *stack = c->config->stack_ops;
	struct mf_config_policy *p = &c->config->bridge;
	const struct mf_param *params;
	const char *name;
	int rc;

	if (stack == NULL)
		return json == NULL ? 0 : cfg_fail(c, "has no effect: stack is \"" MF_STACK_EDM "\"");
	name = stack->bridge;
	rc = json != NULL ? read_name(c, json, mf_bridge_names, &name) : 0;
	if (rc != 0)
		return rc;
	strcpy(p->name, name);
	c->config->bridge_ops = mf_bridge_find(name);
	if (c->config->bridge_ops->messages != stack->messages)
		return cfg_fail(c, "'%s' does not forward what stack \"%s\" sends", name, stack->name);
	params = c->config->bridge_ops->params;
	defaults(params, p->param);
	if (strcmp(name, stack->bridge) == 0)
		override(params, stack->bridge_defaults, p->param);
	inherit(stack->params, c->config->stack.param, params, p->param);
	return read_params(c, json, params, p->param);
}

static json_t *put_policy(struct put *p, const struct mf_config_policy *policy, const struct mf_param *params)
{
	struct cfg_field fields[MF_PARAMS_MAX + 2];
	union value v[MF_PARAMS_MAX];
	json_t *json = json_object();

	make_fields(params, fields);
	to_values(params, policy->param, v);
	cfg_put_set(p, json, "name", json_string(policy->name));
	cfg_put_fields(p, json, fields, v);
	return json;
}

void cfg_put_stack(struct put *p, json_t *root)
{
	const struct mf_config *c = p->config;

	cfg_put_set(p, root, "stack",
		    put_policy(p, &c->stack, c->stack_ops != NULL ? c->stack_ops->params : no_params));
}

void cfg_put_bridge(struct put *p, json_t *json)
{
	const struct mf_config *c = p->config;

	if (c->bridge_ops != NULL)
		cfg_put_set(p, json, "bridge", put_policy(p, &c->bridge, c->bridge_ops->params));
}
