/* mindful commit */
{commit}
